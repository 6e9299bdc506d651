"""Plans as JSON files. A saved plan is input, not authority: all of it is checked here, and vetted when applied."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from firnline.core.errors import BadInput, FirnlineError, Refused
from firnline.core.ids import RunId, StepId
from firnline.core.types import Json
from firnline.loop import json_check
from firnline.loop.json_check import Shape
from firnline.loop.order import in_order
from firnline.loop.registry import Registry
from firnline.loop.values import PLAN_FORMAT, Note, Plan, Step

MARK = "firnline plan"
BYTES_MAX = 64 * 1024 * 1024  # ten thousand steps of wide tables; what is larger is no plan of ours
STEPS_MAX = 10_000
NOTES_MAX = 100_000

_ENVELOPE = Shape(
    required={
        "type": str,
        "format": int,
        "tool": str,
        "run": str,
        "lakehouse": str,
        "environment": str,
        "catalog": str,
        "created": str,
        "steps": list,
        "report": list,
        "digest": str,
    },
    optional={"parent": str},
)
_STEP = Shape(
    required={"id": str, "kind": str, "subject": str, "lease": str, "body": object},
    optional={"base": str, "requires": list, "because": list},
)
_NOTE = Shape(required={"subject": str, "text": str, "level": str}, optional={})
_LEVELS = ("info", "waiting", "warning")
_AGAIN = "Make the plan again with `firnline plan --save FILE`."


def to_json(plan: Plan, registry: Registry) -> Json:
    """The plan as JSON, with its digest."""
    data = {
        "type": MARK,
        "format": plan.format,
        "tool": plan.tool,
        "run": plan.run,
        "lakehouse": plan.lakehouse,
        "environment": plan.environment,
        "catalog": plan.catalog,
        "created": plan.created.isoformat(),
        "steps": [step_to_json(step, registry) for step in plan.steps],
        "report": [{"subject": note.subject, "text": note.text, "level": note.level} for note in plan.report],
    }
    if plan.parent is not None:
        data["parent"] = plan.parent
    return {**data, "digest": digest_of(data)}


def digest(plan: Plan, registry: Registry) -> str:
    """The plan's digest: over everything it says, in canonical form."""
    return str(to_json(plan, registry)["digest"])


def digest_of(data: Json) -> str:
    """sha256 over canonical JSON."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def step_to_json(step: Step, registry: Registry) -> Json:
    """A step as JSON, its body by its kind's codec."""
    data: dict[str, Json] = {"id": step.id, "kind": step.kind, "subject": step.subject, "lease": step.lease}
    if step.base is not None:
        data["base"] = step.base
    if step.requires:
        data["requires"] = list(step.requires)
    if step.because:
        data["because"] = list(step.because)
    return {**data, "body": registry.kind(step.kind).encode(step.body)}


def step_from_json(data: Json, registry: Registry, place: str = "step") -> Step:
    """The inverse of `step_to_json`."""
    json_check.check(data, _STEP, place)
    step_id = StepId(json_check.word(data, "id", place))
    place = f"{place} ({step_id!r})"
    return Step(
        id=step_id,
        kind=data["kind"],
        subject=json_check.word(data, "subject", place),
        lease=json_check.word(data, "lease", place),
        body=_body(data, registry, place),
        base=data.get("base"),
        requires=tuple(StepId(needed) for needed in json_check.words(data, "requires", place)),
        because=json_check.words(data, "because", place),
    )


def _body(data: Json, registry: Registry, place: str) -> Any:
    kind = registry.kind(data["kind"])
    try:
        return kind.decode(data["body"])
    except FirnlineError:
        raise
    except KeyError as error:
        raise BadInput(f"In {place}: the body of a {kind.name!r} lacks {error}.", next_step=_AGAIN) from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise BadInput(f"In {place}: the body is not that of a {kind.name!r}: {error}.", next_step=_AGAIN) from error


def from_json(data: Json, registry: Registry) -> Plan:
    """The plan in this JSON, every part of it checked."""
    _recognise(data)
    json_check.check(data, _ENVELOPE, "the plan")
    if digest_of({key: value for key, value in data.items() if key != "digest"}) != data["digest"]:
        raise BadInput(
            "The plan's digest does not match its content: it was changed after it was made.",
            why="What would be applied is not what was shown and approved.",
            next_step=_AGAIN,
        )
    if len(data["steps"]) > STEPS_MAX or len(data["report"]) > NOTES_MAX:
        raise BadInput(f"The plan has more than {STEPS_MAX:,} steps or {NOTES_MAX:,} notes.", next_step=_AGAIN)
    steps = tuple(step_from_json(item, registry, f"step {at}") for at, item in enumerate(data["steps"], 1))
    in_order(steps)
    return Plan(
        run=RunId(json_check.run_id(data, "run", "the plan")),
        tool=json_check.word(data, "tool", "the plan"),
        lakehouse=json_check.word(data, "lakehouse", "the plan"),
        environment=json_check.word(data, "environment", "the plan"),
        catalog=json_check.word(data, "catalog", "the plan"),
        created=_created(data["created"]),
        steps=steps,
        report=tuple(_note(item, f"note {at}") for at, item in enumerate(data["report"], 1)),
        parent=RunId(json_check.run_id(data, "parent", "the plan")) if "parent" in data else None,
        format=data["format"],
    )


def _recognise(data: Json) -> None:
    if not isinstance(data, dict) or data.get("type") != MARK:
        raise BadInput("This is JSON, and not a plan of Firnline.", next_step=_AGAIN)
    version = data.get("format")
    if type(version) is not int:
        shown = json_check.show(version)
        raise BadInput(f"The plan's format version is {shown}, and should be a number.", next_step=_AGAIN)
    if version != PLAN_FORMAT:
        later = "newer" if version > PLAN_FORMAT else "unknown"
        raise BadInput(
            f"The plan has the {later} format version {version}; this version of Firnline reads {PLAN_FORMAT}.",
            next_step=f"Apply it with the version that made it ({json_check.show(data.get('tool'))}), or plan again.",
        )


def _created(text: str) -> datetime:
    try:
        created = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"The plan's `created` is {text!r}, which is not a time.", next_step=_AGAIN) from error
    if created.tzinfo is None:
        raise BadInput(f"The plan's `created` is {text!r}, which has no time zone.", next_step=_AGAIN)
    return created


def _note(data: Json, place: str) -> Note:
    json_check.check(data, _NOTE, place)
    if data["level"] not in _LEVELS:
        raise BadInput(f"In {place}: `level` is {data['level']!r}, and should be one of {', '.join(_LEVELS)}.")
    return Note(data["subject"], data["text"], data["level"])


def check_target(plan: Plan, *, lakehouse: str, environment: str, catalog: str) -> None:
    """Refuse a plan made for another lakehouse, environment or catalog."""
    for what, planned, here in (
        ("lakehouse", plan.lakehouse, lakehouse),
        ("environment", plan.environment, environment),
        ("catalog", plan.catalog, catalog),
    ):
        if planned != here:
            raise BadInput(
                f"The plan is for the {what} {planned!r}, and this is {here!r}.",
                why="Table names may be the same here and mean other tables.",
                next_step=f"Apply it there{f' with --env {planned}' if what == 'environment' else ''}, or plan here.",
            )


def load(path: Path | str, registry: Registry) -> Plan:
    """Read a saved plan. BadInput, naming the file, for whatever is wrong with it."""
    path = Path(path)
    try:
        return from_json(json_check.parse(_read(path)), registry)
    except BadInput as error:
        raise BadInput(f"{path}: {error.what}", why=error.why, next_step=error.next_step) from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}.") from error
    if len(data) > BYTES_MAX:
        raise BadInput(f"is larger than a plan can be ({BYTES_MAX // 2**20} MiB).")
    return data


def save(path: Path | str, plan: Plan, registry: Registry) -> None:
    """Write the plan, whole or not at all. A file that is there and is no plan is left alone."""
    path = Path(path)
    data = to_json(plan, registry)
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        found = text[max(0, error.start - 20) : error.end].encode("ascii", "backslashreplace").decode()
        raise BadInput(f"{path}: the plan has a text that is not Unicode: …{found}") from error
    try:
        _refuse_to_overwrite(path)
        _replace(path, encoded)
    except OSError as error:
        _cannot_save(path, error)


def _cannot_save(path: Path, error: OSError) -> NoReturn:
    raise BadInput(
        f"{path}: the plan cannot be saved there: {error.strerror or error}.", next_step="Choose another file."
    ) from error


def _refuse_to_overwrite(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(200)
    if start and f'"type": "{MARK}"'.encode() not in start:
        raise Refused(
            f"{path} is there already, and is not a plan.", why="Saving would overwrite it.",
            next_step="Choose another file, or remove this one.",
        )  # fmt: skip


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
