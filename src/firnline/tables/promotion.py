"""Which type may become which without rewriting a file."""

from __future__ import annotations

from firnline.core.types import Decimal, Fixed, Primitive, Type, show

_ALWAYS = {("int", "long"), ("float", "double")}
_FROM_V3 = {("date", "timestamp"), ("date", "timestamp_ns")}


def allowed(before: Type, after: Type, format_version: int) -> bool:
    """Iceberg's promotions for this format."""
    match before, after:
        case Primitive(), Primitive():
            pair = (before.name, after.name)
            return pair in _ALWAYS or (format_version >= 3 and (pair in _FROM_V3 or before.name == "unknown"))
        case Decimal(), Decimal():
            return before.scale == after.scale and after.precision > before.precision
        case Primitive("unknown"), _:
            return format_version >= 3
        case _:
            return False


def narrows(before: Type, after: Type) -> bool:
    """Whether values of `before` may not fit `after` though the types are of one family."""
    if allowed(after, before, 3):
        return True
    match before, after:
        case Decimal(), Decimal():
            return True  # another scale, or fewer digits: either way some value does not fit
        case Fixed(), Fixed():
            return after.length < before.length
        case _:
            return False


def recipe(table: str, path: str, after: Type) -> str:
    """The way round a type change that Iceberg cannot do in metadata."""
    column = path.rsplit(".", 1)[-1]
    return (
        f"Add a new column `{column}_new` of type {show(after)}; backfill it "
        f"(UPDATE {table} SET {column}_new = CAST({path} AS {_sql(after)})); move readers over; "
        f"then drop {path} with a recorded acceptance and rename the new column with `was: {column}_new`."
    )


def _sql(of: Type) -> str:
    return "BIGINT" if of == Primitive("long") else show(of).upper()
