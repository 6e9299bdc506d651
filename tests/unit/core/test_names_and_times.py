"""Ids, instants, durations, sizes, the nearest word, and the error tree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firnline.core import errors, ids, instants, sizes, suggest
from firnline.core.errors import BadFiles, BadInput, Complaint, FirnlineError
from firnline.core.ids import Identifier

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
_part = (
    st.text(st.characters(exclude_categories=["C"], exclude_characters="/\\`"), min_size=1, max_size=30)
    .filter(lambda part: part.strip() == part)
    .filter(lambda part: part not in {".", ".."})
)


@given(st.lists(_part, min_size=2, max_size=5))
def test_names_survive_text(parts: list[str]) -> None:
    """Any name that is allowed is the same after being written and read back, dots and all."""
    assert ids.split_name(ids.join_name(tuple(parts))) == tuple(parts)
    identifier = Identifier(tuple(parts[:-1]), parts[-1])
    assert Identifier.parse(str(identifier)) == identifier


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("shop.orders", ("shop", "orders")),
        (" a.b.orders ", ("a", "b", "orders")),
        ("`odd.name`.orders", ("odd.name", "orders")),
        ("a.`b.c`", ("a", "b.c")),
        ("`plain`.x", ("plain", "x")),
        ("größe.数量", ("größe", "数量")),
    ],
)
def test_a_name_is_split(text: str, parts: tuple[str, ...]) -> None:
    """Dots separate the parts of a name, except inside backticks."""
    assert ids.split_name(text) == parts


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orders", "a table needs a namespace"),
        ("", "empty part"),
        ("a..b", "empty part"),
        ("a.", "empty part"),
        (".a", "empty part"),
        ("a. b", "space at its edge"),
        ("a/b.c", "a slash, a backtick or a control character"),
        ("a\\b.c", "a slash"),
        ("a\x00.c", "control character"),
        ("..`x`", "empty part"),
        ("`..`.x", "may not hold"),
        ("`.`.x", "may not hold"),
        ("`a.b", "a backtick that is never closed"),
        ("`a`b.c", "text after a closing backtick"),
        ("a`b.c", "may not hold"),
        (f"{'x' * 256}.y", "longer than 255 characters"),
    ],
)
def test_a_bad_name_is_refused(text: str, words: str) -> None:
    """What could be no file name, SQL identifier or URL segment is refused, saying which rule it breaks."""
    with pytest.raises(BadInput, match=words):
        Identifier.parse(text)


def test_identifiers_are_ordered_by_namespace_then_name() -> None:
    """Tables of a plan come in order of name."""
    texts = ["b.a", "a.z", "a.b", "a.b.c"]
    assert [str(one) for one in sorted(map(Identifier.parse, texts))] == ["a.b", "a.z", "a.b.c", "b.a"]


def test_run_ids_sort_by_time() -> None:
    """A later run has the greater id, in any zone of its clock, and the entropy tells two of one moment apart."""
    ahead = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    first = ids.new_run_id(NOW, lambda count: b"\xff" * count)
    assert first == ids.new_run_id(ahead, lambda count: b"\xff" * count)
    assert first.startswith("20261118T093000")
    assert first < ids.new_run_id(NOW + timedelta(seconds=1), lambda count: b"\x00" * count)
    assert first != ids.new_run_id(NOW, lambda count: b"\x01" * count)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-18", datetime(2026, 11, 18, tzinfo=UTC)),
        ("2026-11-18T09:30:00Z", NOW),
        ("2026-11-18 09:30", NOW),
        ("2026-11-18T15:00:00+05:30", NOW),
        (" 2h ", NOW - timedelta(hours=2)),
        ("3d ago", NOW - timedelta(days=3)),
        ("90m", NOW - timedelta(minutes=90)),
        ("250ms", NOW - timedelta(milliseconds=250)),
        ("0s", NOW),
        ("1w", NOW - timedelta(days=7)),
    ],
)
def test_an_instant_is_read(text: str, instant: datetime) -> None:
    """A time without a zone is UTC, one with a zone is turned into it, and an age counts back from now."""
    found = instants.parse_instant(text, NOW)
    assert found == instant
    assert found.tzinfo is UTC


@pytest.mark.parametrize("text", ["yesterday", "", "12", "2h later", "2026-13-01", "-3d", "3 years", "999999999999d"])
def test_what_is_no_instant_is_refused(text: str) -> None:
    """What is no time, or lies before time began, is bad input and never an OverflowError."""
    with pytest.raises(BadInput):
        instants.parse_instant(text, NOW)


@pytest.mark.parametrize(("text", "words"), [
    ("0s", "no time at all"), ("2h ago", "not a duration"), ("-1d", "not a duration"), ("1y", "not a duration"),
    ("", "not a duration"), ("999999999999w", "longer than time itself"), ("1.5h", "not a duration"),
])  # fmt: skip
def test_what_is_no_duration_is_refused(text: str, words: str) -> None:
    """Some time, never none and never more than there is."""
    with pytest.raises(BadInput, match=words):
        instants.parse_duration(text)


@given(st.timedeltas(timedelta(milliseconds=1), timedelta(days=36500)))
def test_durations_survive_text(length: timedelta) -> None:
    """A duration of whole milliseconds is the same after being shown and read back."""
    whole = timedelta(milliseconds=length // timedelta(milliseconds=1))
    assert instants.parse_duration(instants.show_duration(whole)) == whole


def test_a_duration_of_half_a_millisecond_is_not_shown() -> None:
    """Nothing that cannot be written exactly is written."""
    with pytest.raises(ValueError, match=r"0:00:00\.000500"):
        instants.show_duration(timedelta(microseconds=500))


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)))  # the zone is added
def test_instants_survive_milliseconds(moment: datetime) -> None:
    """Milliseconds since the epoch name the same millisecond again, and a moment is never moved by a whole one."""
    millis = instants.to_millis(moment.replace(tzinfo=UTC))
    assert instants.to_millis(instants.from_millis(millis)) == millis
    assert abs(instants.from_millis(millis) - moment.replace(tzinfo=UTC)) < timedelta(milliseconds=1)


def test_instants_are_shown_in_utc() -> None:
    """People see UTC, with the letter that says so."""
    assert instants.show(NOW.astimezone(timezone(timedelta(hours=2)))) == "2026-11-18 09:30:00Z"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (3 * 1024**3, "3.0 GiB"),
        (2**70, "1024.0 EiB"),
    ],
)
def test_bytes_are_shown_in_the_largest_unit(count: int, shown: str) -> None:
    """Sizes are read at a glance."""
    assert sizes.show_bytes(count) == shown


def test_counts_have_their_thousands() -> None:
    """Counts are grouped."""
    assert sizes.show_count(1234567) == "1,234,567"


@pytest.mark.parametrize(
    ("word", "valid", "hint"),
    [
        ("ordres", ["orders", "lines"], "Did you mean 'orders'?"),
        ("ORDERS", ["orders"], "Did you mean 'orders'?"),
        ("xyz", ["orders", "lines"], "Valid: lines, orders."),
        ("xyz", [], ""),
    ],
)
def test_the_nearest_word_is_suggested(word: str, valid: list[str], hint: str) -> None:
    """A near word is suggested in its own spelling; otherwise every valid one is named."""
    assert suggest.did_you_mean(word, valid) == hint


def test_nothing_near_is_nothing() -> None:
    """No word is suggested for the sake of suggesting one."""
    assert suggest.nearest("abc", ["zzz"]) is None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BadInput, 2), (errors.Refused, 3), (errors.Blocked, 3), (errors.Failed, 1), (errors.Missing, 1),
        (errors.Unsettled, 1), (errors.Partial, 4), (FirnlineError, 1),
    ],
)  # fmt: skip
def test_an_error_has_its_exit_code(error: type[FirnlineError], code: int) -> None:
    """The branch of an error decides the exit code, and its text is what, why and the next step, a line each."""
    assert error.exit_code == code
    assert str(error("what", why="why", next_step="do")) == "what\nwhy\ndo"
    assert str(error("what")) == "what"


def test_complaints_come_together() -> None:
    """Every complaint about a file is one line somebody's editor can jump to."""
    complaints = (
        Complaint("a.yaml", 3, "columns.id", "is odd.", "Mend it."),
        Complaint("b.yaml", None, None, "is empty."),
    )
    error = BadFiles(complaints)
    assert str(error) == "a.yaml:3: columns.id: is odd. Mend it.\nb.yaml: is empty."
    assert error.exit_code == 2
