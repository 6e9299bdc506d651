"""Plans as files: there and back, and every kind of hand-edit with the sentence it is refused with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firnline.core.errors import BadInput, Refused
from firnline.core.ids import RunId, StepId
from firnline.loop import json_check, plan_file
from firnline.loop.plan_file import check_target, digest_of, from_json, load, save, to_json
from firnline.loop.values import Note, Plan, Step
from tests.unit.loop.stage import NOW, Stage, plan, step

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30).filter(lambda text: text.strip())
RUN = st.from_regex(r"[0-9A-Za-z][0-9A-Za-z._-]{0,79}", fullmatch=True)
TIMES = st.datetimes(timezones=st.integers(-840, 840).map(lambda minutes: timezone(timedelta(minutes=minutes))))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any plan."""
    steps = []
    for number in range(draw(st.integers(0, 5))):
        needed = draw(st.lists(st.sampled_from([each.id for each in steps]), unique=True)) if steps else []
        body = {"n": draw(st.integers())}
        texts = [draw(TEXT) for _ in range(2)]
        steps.append(
            Step(
                StepId(f"{number}"),
                "work",
                *texts,
                body,
                draw(st.none() | TEXT),
                tuple(needed),
                tuple(draw(st.lists(TEXT))),
            )
        )
    notes = st.builds(
        Note, st.text(st.characters(exclude_categories=("Cs",))), TEXT, st.sampled_from(["info", "waiting", "warning"])
    )
    return Plan(
        RunId(draw(RUN)), *(draw(TEXT) for _ in range(4)), draw(TIMES), tuple(steps), tuple(draw(st.lists(notes))),
        draw(st.none() | RUN.map(RunId)),
    )  # fmt: skip


def registry() -> Any:
    stage = Stage()
    stage.state.close()
    return stage.registry


REGISTRY = registry()


@given(plans())
@settings(deadline=None)
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, made: Plan) -> None:
    """A plan comes out of its file as it went in, and means the same: its digest is the same."""
    path = tmp_path_factory.getbasetemp() / "plan.json"
    save(path, made, REGISTRY)
    assert load(path, REGISTRY) == made
    assert plan_file.digest(load(path, REGISTRY), REGISTRY) == json.loads(path.read_text(encoding="utf-8"))["digest"]


def encoded(*steps: Step) -> dict[str, Any]:
    data: dict[str, Any] = to_json(replace(plan(*(steps or (step(1),))), report=(Note("t", "left alone"),)), REGISTRY)
    return data


def signed(data: dict[str, Any]) -> dict[str, Any]:
    """With a digest that fits: somebody who knows how edits it."""
    rest = {key: value for key, value in data.items() if key != "digest"}
    return {**rest, "digest": digest_of(rest)}


def at(*path: Any, value: Any = None, drop: bool = False) -> Callable[[dict[str, Any]], None]:
    """Change one place of the plan."""

    def edit(data: dict[str, Any]) -> None:
        *parents, last = path
        target: Any = data
        for key in parents:
            target = target[key]
        if drop:
            del target[last]
        else:
            target[last] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        at("steps", 0, "body", "n", value=2),
        at("steps", 0, "lease", value="lake/other"),
        at("environment", value="prod"),
        at("digest", value="sha256:" + "0" * 64),
        at("report", value=[]),
        at("created", value="2026-11-20T00:00:00+00:00"),
    ],
)
def test_an_edit_is_noticed(edit: Callable[[dict[str, Any]], None]) -> None:
    """Whatever is changed in a plan that was approved, the digest no longer fits."""
    data = encoded()
    edit(data)
    with pytest.raises(BadInput, match="digest does not match its content: it was changed after it was made") as raised:
        from_json(data, REGISTRY)
    assert raised.value.next_step


EDITS: list[tuple[Callable[[dict[str, Any]], None], str]] = [
    (at("type", value="other"), "This is JSON, and not a plan of Firnline."),
    (at("type", drop=True), "This is JSON, and not a plan of Firnline."),
    (at("format", value="1"), 'The plan\'s format version is "1", and should be a number.'),
    (at("format", value=True), "The plan's format version is true, and should be a number."),
    (at("format", value=2), "The plan has the newer format version 2; this version of Firnline reads 1."),
    (at("format", value=0), "The plan has the unknown format version 0"),
    (at("stpes", value=[]), "In the plan: the key 'stpes' is not known."),
    (at("run", drop=True), "In the plan: the key 'run' is missing."),
    (at("run", value="../../etc"), "In the plan: 'run' is \"../../etc\", which is no run id."),
    (at("parent", value=""), "In the plan: 'parent' is \"\", which is no run id."),
    (at("parent", value=7), "In the plan: 'parent' should be text, and is 7."),
    (at("tool", value=" "), "In the plan: 'tool' should be a text of 1 to 2,000 characters"),
    (at("lakehouse", value="x" * 2_001), "In the plan: 'lakehouse' should be a text of 1 to 2,000 characters"),
    (at("steps", value={}), "In the plan: 'steps' should be a list, and is {}."),
    (at("created", value="yesterday"), "The plan's `created` is 'yesterday', which is not a time."),
    (at("created", value="2026-11-19T12:00:00"), "which has no time zone."),
    (at("steps", 0, value="drop everything"), "In step 1: an object should stand here"),
    (at("steps", 0, "id", value=1), "In step 1: 'id' should be text, and is 1."),
    (at("steps", 0, "force", value=True), "In step 1: the key 'force' is not known."),
    (at("steps", 0, "lease", drop=True), "In step 1: the key 'lease' is missing."),
    (at("steps", 0, "subject", value=""), "In step 1 ('1'): 'subject' should be a text of 1 to 2,000 characters"),
    (at("steps", 0, "kind", value="wrok"), "This version of Firnline has no step kind 'wrok'."),
    (at("steps", 0, "requires", value=["9"]), "Step '1' requires '9', and the plan has no such step."),
    (at("steps", 0, "requires", value=["1"]), "The steps require each other in a circle: 1 → 1."),
    (at("steps", 0, "requires", value=[1]), "In step 1 ('1'): 'requires' should be a text of 1 to 2,000 characters"),
    (at("steps", 0, "body", value={}), "In step 1 ('1'): the body of a 'work' lacks 'n'."),
    (at("steps", 0, "body", value={"n": "one"}), "In step 1 ('1'): the body is not that of a 'work'"),
    (at("steps", 0, "body", value=None), "In step 1 ('1'): the body is not that of a 'work'"),
    (
        at("report", 0, "level", value="shout"),
        "In note 1: `level` is 'shout', and should be one of info, waiting, warning.",
    ),
    (at("report", 0, "text", value=3), "In note 1: 'text' should be text, and is 3."),
]


@pytest.mark.parametrize(("edit", "sentence"), EDITS, ids=[sentence[:50] for _, sentence in EDITS])
def test_an_edit_with_a_digest(tmp_path: Path, edit: Callable[[dict[str, Any]], None], sentence: str) -> None:
    """A plan file is input, not authority: with a digest that fits, every part of it is still checked."""
    data = encoded()
    edit(data)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(signed(data)), encoding="utf-8")
    with pytest.raises(BadInput) as raised:
        load(path, REGISTRY)
    assert raised.value.what.startswith(f"{path}: ")
    assert sentence in raised.value.what


def test_two_steps_of_one_id() -> None:
    """Ids name steps: two of one are refused."""
    data = encoded(step(1), step(2))
    data["steps"][1]["id"] = "1"
    with pytest.raises(BadInput, match="two steps of the id '1'"):
        from_json(signed(data), REGISTRY)


def test_too_many_steps() -> None:
    """A plan larger than any we make is refused before its steps are read."""
    data = encoded()
    data["steps"] = data["steps"] * (plan_file.STEPS_MAX + 1)
    with pytest.raises(BadInput, match="more than 10,000 steps"):
        from_json(signed(data), REGISTRY)


DEEP = b"[" * 200 + b"]" * 200
BYTES: list[tuple[bytes, str]] = [
    (b"", "is not JSON: Expecting value at line 1, column 1."),
    (b"\xff\xfe", "is not JSON: byte 0 is not UTF-8."),
    (b"{'type': 1}", "is not JSON: Expecting property name"),
    (b'{"a": 1} x', "is not JSON: Extra data at line 1, column 10."),
    (b'{"steps": [], "steps": []}', 'has the key "steps" twice in one object.'),
    (b'{"a": 1, "a": 2, "a": 3}', 'has the key "a" 3 times in one object.'),
    (b'{"n": NaN}', "is not JSON: NaN is no number."),
    (b'{"n": -Infinity}', "is not JSON: -Infinity is no number."),
    (b'{"n": 1e999}', "has the number 1e999, which is larger than a number can be."),
    (b'{"n": ' + b"9" * 5_000 + b"}", "is not JSON: Exceeds the limit"),
    (b'{"s": "\\ud83d"}', "has a text with half of a surrogate pair, which is no character"),
    (b'{"\\udc00": 1}', "has a text with half of a surrogate pair"),
    (DEEP, "is nested deeper than 128 levels."),
    (b"[" * 200_000, "is nested deeper than 128 levels."),
    (b'"' + b"x" * (json_check.STRING_MAX + 1) + b'"', "has a text of 1,000,001 characters; 1,000,000 is the most."),
    (b"[]", "This is JSON, and not a plan of Firnline."),
    (b"7", "This is JSON, and not a plan of Firnline."),
]


@pytest.mark.parametrize(("data", "sentence"), BYTES, ids=[sentence[:40] for _, sentence in BYTES])
def test_bytes_that_are_no_plan(tmp_path: Path, data: bytes, sentence: str) -> None:
    """Whatever a file holds, the answer is a sentence that names it."""
    path = tmp_path / "plan.json"
    path.write_bytes(data)
    with pytest.raises(BadInput) as raised:
        load(path, REGISTRY)
    assert raised.value.what.startswith(f"{path}: ")
    assert sentence in raised.value.what


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(data: bytes) -> None:
    """No bytes end in anything but a plan or a sentence."""
    try:
        json_check.parse(data)
    except BadInput:
        return


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there, or is a folder, or too large, is said so."""
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        load(tmp_path / "none.json", REGISTRY)
    with pytest.raises(BadInput, match="cannot be read: Is a directory"):
        load(tmp_path, REGISTRY)


def test_a_file_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than a plan can be is not read into memory."""
    monkeypatch.setattr(plan_file, "BYTES_MAX", 1024)
    (tmp_path / "plan.json").write_bytes(b" " * 1025)
    with pytest.raises(BadInput, match="is larger than a plan can be"):
        load(tmp_path / "plan.json", REGISTRY)


@pytest.mark.parametrize("what", ["lakehouse", "environment", "catalog"])
def test_another_target(what: str) -> None:
    """A plan for another lakehouse, environment or catalog is not for here, though the names of its tables may be."""
    here = {"lakehouse": "shop", "environment": "local", "catalog": "lake"}
    check_target(plan(), **here)
    with pytest.raises(BadInput, match=f"The plan is for the {what} '{here[what]}', and this is 'other'") as raised:
        check_target(plan(), **{**here, what: "other"})
    assert ("--env local" in (raised.value.next_step or "")) is (what == "environment")


def test_saving_replaces_a_plan(tmp_path: Path) -> None:
    """A plan is saved over a plan or an empty file, readable by others, with nothing left beside it."""
    path = tmp_path / "plan.json"
    path.touch()
    save(path, plan(step(1)), REGISTRY)
    save(path, plan(step(2)), REGISTRY)
    assert load(path, REGISTRY).steps == (step(2),)
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(tmp_path) == ["plan.json"]


def test_saving_spares_others(tmp_path: Path) -> None:
    """A file that is no plan is left alone."""
    path = tmp_path / "lakehouse.yaml"
    path.write_text("name: shop\n", encoding="utf-8")
    with pytest.raises(Refused, match="is there already, and is not a plan"):
        save(path, plan(), REGISTRY)
    assert path.read_text(encoding="utf-8") == "name: shop\n"


def test_saving_where_nothing_can_be(tmp_path: Path) -> None:
    """A folder that is not there is said so, and not made."""
    with pytest.raises(BadInput, match="the plan cannot be saved there: No such file"):
        save(tmp_path / "none" / "plan.json", plan(), REGISTRY)


def test_saving_whole_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save that fails leaves the plan that was there, and nothing beside it."""
    path = tmp_path / "plan.json"
    save(path, plan(step(1)), REGISTRY)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plan_file.os, "fsync", full)
    with pytest.raises(BadInput, match="No space left on device"):
        save(path, plan(step(2)), REGISTRY)
    assert load(path, REGISTRY).steps == (step(1),)
    assert os.listdir(tmp_path) == ["plan.json"]


def test_a_text_that_is_no_unicode(tmp_path: Path) -> None:
    """A plan with half a character in it is refused when it is saved, not when it is applied."""
    with pytest.raises(BadInput, match=r"the plan has a text that is not Unicode: ….*\\ud83d"):
        save(tmp_path / "plan.json", replace(plan(), report=(Note("t", "half \ud83d"),)), REGISTRY)
    assert os.listdir(tmp_path) == []


def test_the_digest_is_canonical() -> None:
    """The digest is of what the plan says: the order of keys and the way numbers are spaced do not matter."""
    data = encoded()
    again = json.loads(json.dumps(dict(reversed(data.items())), indent=4))
    assert from_json(again, REGISTRY) == from_json(data, REGISTRY)
    later = replace(plan(step(1)), created=datetime(2030, 1, 1, tzinfo=NOW.tzinfo))
    assert plan_file.digest(plan(step(1)), REGISTRY) != plan_file.digest(later, REGISTRY)
