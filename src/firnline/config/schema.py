"""The keys of every kind of file as JSON Schema, for editors. Made from the very shapes that files are read by."""

from __future__ import annotations

from typing import Any

from firnline.config import grammar, project, shapes
from firnline.config.amounts import SIZE_PATTERN, Unit
from firnline.config.prices import PRICES
from firnline.core.types import Json

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DURATION = r"^\s*[0-9]{1,15}\s*(ms|s|m|h|d|w)\s*$"
_SCALARS = ["string", "number", "boolean"]


def table() -> Json:
    """The schema of table files."""
    return _document("A table file of Firnline", grammar.TABLE)


def lakehouse() -> Json:
    """The schema of lakehouse.yaml."""
    return _document("lakehouse.yaml of Firnline", project.LAKEHOUSE)


def prices() -> Json:
    """The schema of prices.yaml."""
    return _document("prices.yaml of Firnline", PRICES)


def _document(title: str, record: shapes.Record) -> Json:
    named: dict[str, Json] = {}
    body = _shape(record, named)
    return {"$schema": _DIALECT, "title": title, **body, **({"$defs": named} if named else {})}


def _shape(shape: shapes.Shape, named: dict[str, Json]) -> dict[str, Any]:
    match shape:
        case shapes.Record():
            return _record(shape, named)
        case shapes.Named():
            return _named(shape, named)
        case shapes.Each():
            least = {"minItems": shape.length_min} if shape.length_min else {}
            return {"type": "array", "items": _shape(shape.item, named), **least}
        case shapes.Either():
            options = [_shape(option, named) for option in shape.options]
            return options[0] if len(options) == 1 else {"anyOf": options}
        case shapes.Later():
            if shape.name not in named:
                named[shape.name] = {}  # before going in: it contains itself
                named[shape.name] = _shape(shape.shape(), named)
            return {"$ref": f"#/$defs/{shape.name}"}
        case shapes.Amount():
            return _amount(shape.unit)
        case _:
            return _scalar(shape)


def _scalar(shape: shapes.Shape) -> dict[str, Any]:
    match shape:
        case shapes.Text() if shape.choices:
            return {"type": "string", "enum": list(shape.choices)}
        case shapes.Text():
            return {"type": "string", **({"minLength": shape.length_min} if shape.length_min else {})}
        case shapes.Number():
            most = {"maximum": shape.most} if shape.most < 2**63 - 1 else {}
            return {"type": "integer", "minimum": shape.least, **most}
        case shapes.Truth():
            return {"type": "boolean"}
        case shapes.Duration():
            return {"type": "string", "pattern": _DURATION}
        case shapes.Written():
            return {"type": [*_SCALARS, "null"] if shape.nullable else _SCALARS}
        case shapes.Leaf():
            return {"type": [*_SCALARS, "null"]}
        case _:
            raise AssertionError(shape)


def _amount(unit: Unit) -> dict[str, Any]:
    match unit:
        case Unit.COUNT:
            return {"type": "integer", "minimum": 0}
        case Unit.BYTES:
            return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": SIZE_PATTERN}]}
        case Unit.DURATION:
            return {"type": "string", "pattern": _DURATION}
        case Unit.SHARE:
            return {"type": "number", "minimum": 0, "maximum": 1}
        case Unit.TIMES | Unit.MONEY:
            return {"type": "number", "minimum": 0}


def _record(shape: shapes.Record, named: dict[str, Json]) -> dict[str, Any]:
    keys: dict[str, Json] = {}
    demands: list[Json] = []
    for name, key in shape.keys.items():
        inner = _shape(key.shape, named)
        keys[name] = {"description": key.doc, **(_or_null(inner) if key.nullable else inner)}
        if key.required and key.also:
            demands.append({"anyOf": [{"required": [one]} for one in (name, *key.also)]})
    required = [name for name, key in shape.keys.items() if key.required and not key.also]
    return {
        "type": "object",
        "properties": keys,
        **({"required": required} if required else {}),
        **({"allOf": demands} if demands else {}),
        "additionalProperties": False if shape.others is None else _shape(shape.others, named),
    }


def _named(shape: shapes.Named, named: dict[str, Json]) -> dict[str, Any]:
    inner = _shape(shape.value, named)
    bounds = {
        **({"minProperties": shape.length_min} if shape.length_min else {}),
        **({"maxProperties": shape.length_max} if shape.length_max is not None else {}),
    }
    return {"type": "object", "additionalProperties": _or_null(inner) if shape.nullable else inner, **bounds}


def _or_null(inner: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [inner, {"type": "null"}]}
