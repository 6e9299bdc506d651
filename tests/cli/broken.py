"""Input as people get it wrong, and worse: files, names, environments, catalogs, saved plans. What each is told is in
`broken_input.txt`, read by people before it was put there.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firnline.cli import app

LAKEHOUSE = "version: 1\nname: shop\ndefault: local\nenvironments:\n  local:\n    catalogs: {lake: {type: sqlite}}\n"
ORDERS = "table: shop.orders\ncolumns:\n  - id: long required\n  - note: string\n  - at: timestamptz\n"
PLAN = ("plan",)
APPLY_PLAN = ("apply", "plan.json", "--yes")
Prepare = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Broken:
    """A project with something wrong in it, and the command that meets it."""

    name: str
    command: tuple[str, ...] = PLAN
    files: Mapping[str, str | bytes] = field(default_factory=dict)  # over a project that is right; None: not there
    environ: Mapping[str, str] = field(default_factory=dict)
    prepare: Prepare | None = None  # done to the folder before the command


def table(text: str) -> dict[str, str]:
    """A project with one table file."""
    return {"tables/t.yaml": text}


def lake(text: str) -> dict[str, str]:
    """A project with this lakehouse.yaml."""
    return {"lakehouse.yaml": text, **table(ORDERS)}


def column(text: str, **more: str) -> dict[str, str]:
    """A table with one odd column, and further keys."""
    keys = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in more.items())
    return table(f"table: shop.orders\ncolumns:\n  - id: long required\n  - {text}\n{keys}")


def with_key(line: str) -> dict[str, str]:
    """A right table with one more line."""
    return table(ORDERS + line + "\n")


def applied(folder: Path) -> None:
    """The declared tables made."""
    assert app.run(("apply", "--yes", "-C", str(folder), "--log-format", "json")) == 0


def edited(change: Callable[[dict[str, Any]], None], *, sign: bool = False) -> Prepare:
    """A plan saved to plan.json and edited by hand; with `sign` its digest is made to fit again."""

    def prepare(folder: Path) -> None:
        from firnline.loop import plan_file

        path = folder / "plan.json"
        assert app.run(("plan", "-C", str(folder), "--save", str(path))) == 0
        data = json.loads(path.read_text(encoding="utf-8"))
        change(data)
        if sign:
            data["digest"] = plan_file.digest_of({key: value for key, value in data.items() if key != "digest"})
        path.write_text(json.dumps(data), encoding="utf-8")

    return prepare


def _steps_backwards(plan: dict[str, Any]) -> None:
    plan["steps"][0]["requires"] = [plan["steps"][-1]["id"]]


def _set(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan.__setitem__(key, value)


def _in_step(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["steps"][-1].__setitem__(key, value)


def _in_body(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda plan: plan["steps"][-1]["body"].__setitem__(key, value)


def _other_database(folder: Path) -> None:
    path = folder / ".lake" / "catalog.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.close()


def _other_catalog(folder: Path) -> None:
    applied(folder)
    text = LAKEHOUSE.replace("lake:", "sea:")
    (folder / "lakehouse.yaml").write_text(text, encoding="utf-8")


def _no_database(folder: Path) -> None:
    path = folder / ".lake" / "catalog.db"
    path.parent.mkdir()
    path.write_bytes(
        b"This is a text, and quite a long one, so that it is longer than the header of a database is." * 3
    )


def _damaged_metadata(folder: Path) -> None:
    applied(folder)
    for path in (folder / "warehouse").rglob("*.metadata.json"):
        path.write_bytes(path.read_bytes()[:1])


def _missing_metadata(folder: Path) -> None:
    applied(folder)
    for path in (folder / "warehouse").rglob("*.metadata.json"):
        path.unlink()


def _foreign_state(folder: Path) -> None:
    path = folder / ".lake" / "state.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.close()


def _newer_state(folder: Path) -> None:
    applied(folder)
    connection = sqlite3.connect(folder / ".lake" / "state.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _folder_instead(folder: Path) -> None:
    (folder / ".lake" / "catalog.db").mkdir(parents=True)


def _declared_again(folder: Path) -> None:
    (folder / "tables" / "u.yaml").write_text(ORDERS, encoding="utf-8")


LAUGHS = (
    "policy: {a: &a [x], "
    + ", ".join(
        f"{after}: &{after} [{', '.join([f'*{before}'] * 10)}]"
        for before, after in zip("abcdef", "bcdefg", strict=True)
    )
    + "}"
)
READ_ONLY = LAKEHOUSE + "    access: read\n"
TWO = LAKEHOUSE.replace("default: local\n", "") + "  prod:\n    catalogs: {lake: {type: sqlite}}\n"
NESSIE = LAKEHOUSE + '  prod:\n    catalogs: {lake: {type: nessie, uri: "https://nessie.example/"}}\n'

CASES = (
    # lakehouse.yaml
    Broken("no project", prepare=lambda folder: (folder / "lakehouse.yaml").unlink()),
    Broken("no such folder", ("plan", "-C", "nowhere")),
    Broken("empty lakehouse.yaml", files=lake("")),
    Broken("a list instead of keys", files=lake("- a\n")),
    Broken("misspelt keys", files=lake(LAKEHOUSE.replace("environments", "enviroments"))),
    Broken("a newer grammar", files=lake(LAKEHOUSE.replace("version: 1", "version: 7"))),
    Broken("no catalogs", files=lake(LAKEHOUSE.replace("{lake: {type: sqlite}}", "{}"))),
    Broken("unknown catalog type", files=lake(LAKEHOUSE.replace("sqlite", "sqllite"))),
    Broken("odd catalog name", files=lake(LAKEHOUSE.replace("{lake:", "{my.lake:"))),
    Broken("default names nothing", files=lake(LAKEHOUSE.replace("default: local", "default: locl"))),
    Broken("a secret in the file", files=lake(LAKEHOUSE.replace("sqlite}", "sqlite, s3.secret-access-key: abc123}"))),
    Broken("a variable that is not set", files=lake(LAKEHOUSE.replace("sqlite}", 'sqlite, uri: "${env:NOT_SET}"}'))),
    Broken("a port that is no number", files=lake(LAKEHOUSE.replace("sqlite}", 'rest, uri: "http://h:abc"}'))),
    Broken("half an address", files=lake(LAKEHOUSE.replace("sqlite}", 'rest, uri: "http://[::1"}'))),
    Broken("half an address of a metastore", files=lake(LAKEHOUSE.replace("sqlite}", 'hive, uri: "thrift://[::1"}'))),
    Broken(
        "a token with a line too many",
        files=lake(LAKEHOUSE.replace("sqlite}", 'rest, uri: "http://h", token: "${env:LAKE_TOKEN}"}')),
        environ={"LAKE_TOKEN": "s3cret\nX-Other: y"},
    ),
    Broken(
        "a password in the address of a server of tokens",
        files=lake(
            LAKEHOUSE.replace(
                "sqlite}",
                'rest, uri: "http://h", credential: "${env:LAKE_SECRET}", oauth2-server-uri: "${env:LAKE_LOGIN}"}',
            )
        ),
        environ={"LAKE_SECRET": "s3cret", "LAKE_LOGIN": "https://a:s3cret@login/t"},
    ),
    Broken("a path both engines read differently", files=lake(LAKEHOUSE.replace("sqlite}", 'sqlite, uri: "a?b.db"}'))),
    Broken("a state in no region", files=lake(LAKEHOUSE + "    state: {type: dynamodb, region: Ireland}\n")),
    # environments
    Broken("unknown environment", ("plan", "--env", "prd"), files=lake(NESSIE)),
    Broken("unknown environment in a variable", environ={"FIRNLINE_ENV": "lokal"}),
    Broken("two environments and no default", files=lake(TWO)),
    Broken("a catalog that is not wired yet", ("plan", "--env", "prod"), files=lake(NESSIE)),
    Broken("a misspelt variable", environ={"FIRNLINE_ACESS": "read"}),
    Broken("a variable with a wrong value", environ={"FIRNLINE_ACCESS": "readonly"}),
    Broken("a variable that is no YAML", environ={"FIRNLINE_ENGINE__CONF": "{spark.x: "}),
    Broken("apply where nothing may be written", ("apply", "--yes"), files=lake(READ_ONLY)),
    Broken("rollback where nothing may be written", ("rollback", "shop.orders", "--to", "1h"), files=lake(READ_ONLY)),
    # YAML
    Broken("a tab", files=table("table: shop.orders\ncolumns:\n\t- id: long\n")),
    Broken("an unclosed bracket", files=table("table: shop.orders\ncolumns: [{name: id, type: long}\n")),
    Broken("a colon in plain text", files=with_key("description: so: it is")),
    Broken("a key twice", files=with_key("owner: a\nowner: b")),
    Broken("not UTF-8", files={"tables/t.yaml": ORDERS.encode() + b"owner: \xff\n"}),
    Broken("a merge key", files=table("table: shop.orders\ncolumns:\n  - id: long\n<<: {owner: a}\n")),
    Broken("a billion laughs", files=with_key(LAUGHS)),
    Broken("an alias of nothing", files=with_key("owner: *somebody")),
    Broken("two documents", files=with_key("---\ntable: shop.b")),
    # table files
    Broken("no table name", files=table("columns:\n  - id: long\n")),
    Broken("a table without a namespace", files=table(ORDERS.replace("shop.orders", "orders"))),
    Broken("a slash in a name", files=table(ORDERS.replace("shop.orders", "shop/x.orders"))),
    Broken("an unknown key", files=with_key("partitions: [day(at)]")),
    Broken("a table declared twice", prepare=_declared_again),
    Broken("no columns", files=table("table: shop.orders\ncolumns: []\n")),
    Broken("another system's type", files=column("n: bigint")),
    Broken("a misspelt type", files=column("n: timestmp")),
    Broken("an impossible decimal", files=column("n: decimal(40,2)")),
    Broken("an unclosed type", files=column('n: "list<string"')),
    Broken("half a column", files=column("name: n")),
    Broken("a map without values", files=column("{name: n, type: map, key: string}")),
    Broken("a column twice", files=column("id: string")),
    Broken("a default that does not fit", files=column("{name: n, type: int, default: many}", format_version="3")),
    Broken("a default in format 2", files=column("{name: n, type: int, default: 3}")),
    Broken("a format 3 type in format 2", files=column("n: variant")),
    Broken("a format that is not", files=column("n: int", format_version="4")),
    Broken("a transform that is not", files=with_key("partition: [days(at)]")),
    Broken("a transform of the wrong type", files=with_key("partition: [day(note)]")),
    Broken("swapped bucket arguments", files=with_key('partition: ["bucket(id, 16)"]')),
    Broken("a partition over no column", files=with_key("partition: [day(att)]")),
    Broken("a sort over no column", files=with_key("sort: [when desc]")),
    Broken("an identifier that may be null", files=with_key("identifier: [note]")),
    Broken("an unknown reader", files=with_key("readers: [sparc]")),
    Broken("a reason that is none", files=with_key("accept: [{change: drop-column, column: x, reason: ok}]")),
    Broken("an acceptance of nothing", files=with_key('accept: [{change: drop-tabel, reason: "nobody reads it"}]')),
    Broken("dropped and protected", files=with_key('protect: true\ndrop: {purge: true, reason: "it is not used"}')),
    Broken("our own properties", files=with_key("properties: {firnline.run: x}")),
    Broken("a secret property", files=with_key("properties: {s3.secret-access-key: abc}")),
    Broken("format as a property", files=with_key('properties: {format-version: "3"}')),
    Broken("an age that is none", files=with_key("tags: {t: {keep: 90}}")),
    # names and options of commands
    Broken("plan of what nobody declared", ("plan", "shop.ordres")),
    Broken("show of what is not there", ("tables", "show", "shop.ordres"), prepare=applied),
    Broken("adopt of what is not there", ("tables", "adopt", "shoop.*"), prepare=applied),
    Broken("history of nothing", ("history", "orders")),
    Broken("rollback of an empty table", ("rollback", "shop.orders", "--to", "8721"), prepare=applied),
    Broken("rollback to nonsense", ("rollback", "shop.orders", "--to", "yesterdayish"), prepare=applied),
    Broken("a tag on an empty table", ("tag", "create", "shop.orders", "t"), prepare=applied),
    Broken("drop of a branch that is not", ("branch", "drop", "shop.orders", "nightly"), prepare=applied),
    Broken("a run that is not", ("ledger", "1999"), prepare=applied),
    Broken("an age no duration", ("tag", "create", "shop.orders", "t", "--keep", "long"), prepare=applied),
    Broken("apply without a yes", ("apply",)),
    Broken("init over a project", ("init", ".")),
    # catalogs
    Broken("a catalog of something else", prepare=_other_database),
    Broken("a catalog of another project", prepare=_other_catalog),
    Broken("a catalog that is no database", prepare=_no_database),
    Broken("a catalog that is a folder", prepare=_folder_instead),
    Broken("damaged metadata", prepare=_damaged_metadata),
    Broken("missing metadata", prepare=_missing_metadata),
    Broken("a state of something else", ("ledger",), prepare=_foreign_state),
    Broken("a state of a newer version", ("ledger",), prepare=_newer_state),
    # saved plans
    Broken("no such plan", APPLY_PLAN),
    Broken("a plan that is no JSON", APPLY_PLAN, files={"plan.json": "steps: []"}),
    Broken("a plan that is no plan", APPLY_PLAN, files={"plan.json": "{}"}),
    Broken("an edited plan", APPLY_PLAN, prepare=edited(_set("catalog", "other"))),
    Broken("a plan of another catalog", APPLY_PLAN, prepare=edited(_set("catalog", "x"), sign=True)),
    Broken("a plan of a later version", APPLY_PLAN, prepare=edited(_set("format", 9), sign=True)),
    Broken("a plan with a key too many", APPLY_PLAN, prepare=edited(_set("stesp", []), sign=True)),
    Broken("a plan with an unknown step", APPLY_PLAN, prepare=edited(_in_step("kind", "table.chan"), sign=True)),
    Broken("a plan with half a body", APPLY_PLAN, prepare=edited(_in_step("body", {"table": "a.b"}), sign=True)),
    Broken("a plan with a wrong body", APPLY_PLAN, prepare=edited(_in_body("creates", "yes"), sign=True)),
    Broken("a plan in a circle", APPLY_PLAN, prepare=edited(_steps_backwards, sign=True)),
    Broken("saving over another file", ("plan", "--save", "lakehouse.yaml")),
)  # fmt: skip


def make(case: Broken, folder: Path) -> None:
    """The project of the case in this folder."""
    files: dict[str, str | bytes] = {"lakehouse.yaml": LAKEHOUSE, "tables/t.yaml": ORDERS, **case.files}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    if case.prepare is not None:
        case.prepare(folder)


def said(text: str, folder: Path) -> str:
    """What was said, with what differs from run to run replaced."""
    return text.replace(str(folder), "PROJECT").replace(os.sep.join(("", "private", "PROJECT")), "PROJECT")
