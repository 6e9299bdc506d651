"""What is wrong on the way to a catalog or its files, and what a person is told: what, why and what to do next."""

from __future__ import annotations

import json
import os
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

from firnline.cli import app
from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from tests import servers
from tests.answering import Answer, answering
from tests.first_minute_building import Gate, account_number, clients, gate, project, settings
from tests.glue_building import iceberg
from tests.s3_places import opened

SECRET = "never/to/be/shown+1"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET}
LOST = "a-bucket-that-is-not-there"
EXPLAIN, STATUS = ("explain", "shop.orders"), ("status",)
HOSTILE = ("'; DROP TABLE x; --", "../../etc", "shop.a\nb", "shop.\x1b[31mred", "shop.a`b", f"shop.{'x' * 300}", "")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the servers of these tests are."""

    aws: str  # Glue and S3, with the table shop.orders whose bucket is not there
    page: str  # answers everything with a web page
    nobody: str  # no server
    curt: str  # an HTTP server that says at once what it thinks of other protocols

    def places(self) -> dict[str, str]:
        """By name, and as hosts."""
        every = {each.name: str(getattr(self, each.name)) for each in fields(self)}
        return every | {f"{name}_host": url.removeprefix("http://") for name, url in every.items()}


@dataclass(frozen=True, slots=True)
class Wrong:
    """Settings with something wrong, and what must be said of it: the first sentence, and everything else."""

    name: str
    catalog: Mapping[str, str]
    code: int
    what: str
    more: tuple[str, ...] = ()
    command: tuple[str, ...] = STATUS
    environ: Mapping[str, str] = field(default_factory=lambda: KEYS)
    answer: Answer | None = None  # of the server, to whatever `to` asks for
    to: str = "glue"


def glue(**more: str) -> dict[str, str]:
    """A Glue catalog on the local server."""
    return {"type": "glue", "region": "us-east-1", "tries": "1", "glue_endpoint": "{aws}", "s3_endpoint": "{aws}",
            "s3_path-style-access": "true", **more}  # fmt: skip


def said(code: str, message: str) -> Answer:
    """An error of Glue's."""
    return Answer(400, json.dumps({"__type": code, "Message": message}).encode())


def refused(status: int, code: str, **headers: str) -> Answer:
    """An error of S3's."""
    body = f"<Error><Code>{code}</Code><Message>As the server says</Message></Error>"
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, body.encode(), {"Content-Type": "application/xml", **named})


REST = {"type": "rest", "tries": "1"}
HIVE = {"type": "hive"}
LOOK = "`firnline iam-policy --for look` writes the rights that looking needs."
WRONG = (
    Wrong("nothing listens", glue(glue_endpoint="{nobody}"), EXIT_FAILED, "{nobody} cannot be reached.",
          ("Check `glue.endpoint`, and that the server is running.",)),
    Wrong("nothing listens for S3", glue(s3_endpoint="{nobody}"), EXIT_FAILED, "{nobody} cannot be reached.",
          ("Check `s3.endpoint`",), EXPLAIN),
    Wrong("something else listens", glue(glue_endpoint="{page}"), EXIT_FAILED, "{page} answers, but not as glue does.",
          ("Check `glue.endpoint`: it must be the address of the service itself.",)),
    Wrong("https to http", glue(glue_endpoint="https://{page_host}"), EXIT_FAILED,
          "https://{page_host} does not speak TLS.", ("is reached by http://.",)),
    Wrong("expired credentials", glue(), EXIT_FAILED, "The AWS credentials have ended.",
          ("The server said: The security token included in the request is expired.", "Sign in again"),
          answer=said("ExpiredTokenException", "The security token included in the request is expired")),
    Wrong("expired on the way to S3", glue(), EXIT_FAILED, "The AWS credentials have ended.", ("Sign in again",),
          EXPLAIN, answer=refused(400, "ExpiredToken"), to="s3"),
    Wrong("unknown credentials", glue(), EXIT_FAILED, "The AWS credentials were not accepted by {aws}",
          ("aws sts get-caller-identity",), answer=said("UnrecognizedClientException", "The token is invalid.")),
    Wrong("no credentials", glue(), EXIT_FAILED, "There are no AWS credentials.",
          ("wants every request signed", "Set AWS_PROFILE or `profile:`"), environ={}),
    Wrong("half of the credentials", glue(), EXIT_BAD_INPUT, "The AWS credentials are not complete: ",
          ("missing: AWS_SECRET_ACCESS_KEY", "Set what is missing"), environ={"AWS_ACCESS_KEY_ID": "AKIA"}),
    Wrong("unknown profile", glue(profile="nobody"), EXIT_BAD_INPUT, "There is no AWS profile 'nobody'.",
          ("aws configure list-profiles",)),
    Wrong("unknown profile of the environment", glue(), EXIT_BAD_INPUT, "There is no AWS profile 'nobody'.",
          ("AWS_PROFILE",), environ={"AWS_PROFILE": "nobody"}),
    Wrong("a region that is none", glue(region="mars"), EXIT_BAD_INPUT,
          "catalogs.lake.region: 'mars' is not a region such as eu-west-1."),
    Wrong("no region", {"type": "glue"}, EXIT_BAD_INPUT, "No AWS region is set.",
          ("Every request is signed for a region.", "Set `region:` of the catalog")),
    Wrong("a region with nothing in it", glue(region="eu-west-1"), EXIT_DONE,
          "There is nothing in the Glue catalog of this account in eu-west-1."),
    Wrong("a bucket of another region", glue(), EXIT_BAD_INPUT, "is in the region eu-west-1, and us-east-1 was asked.",
          ("Set `region: eu-west-1` of the catalog.",), EXPLAIN,
          answer=refused(301, "PermanentRedirect", x_amz_bucket_region="eu-west-1"), to="s3"),
    Wrong("no right to list", glue(), EXIT_FAILED, "These credentials may not do glue:GetDatabases", (LOOK, "user/ann"),
          answer=said("AccessDeniedException", "User: arn:aws:iam::1:user/ann is not authorized")),
    Wrong("no right to read", glue(), EXIT_FAILED, f"These credentials may not do s3:GetObject on s3://{LOST}/",
          (LOOK,), EXPLAIN, answer=refused(403, "AccessDenied"), to="s3"),
    Wrong("no such bucket", glue(), EXIT_FAILED, f"There is no bucket {LOST}.", ("Check the location",), EXPLAIN),
    Wrong("no such catalog", glue(glue_id="'210987654321'"), EXIT_FAILED,
          "There is no Glue catalog 210987654321 in this region.", ("Check `glue.id`",),
          answer=said("EntityNotFoundException", "Catalog not found.")),
    Wrong("a catalog id that is none", glue(glue_id="ours"), EXIT_BAD_INPUT,
          "catalogs.lake.glue.id: 'ours' is not the id of a Glue catalog.", ("Write the 12 digits",)),
    Wrong("too many requests", glue(), EXIT_REFUSED, "{aws} asks for fewer requests (ThrottlingException).",
          ("Run the same command again in a minute.",), answer=said("ThrottlingException", "Rate exceeded")),
    Wrong("no Iceberg table", glue(), EXIT_BAD_INPUT, "shop.hive is an entry of another kind, not an Iceberg table.",
          command=("explain", "shop.hive")),
    Wrong("a catalog type that is none", {"type": "glu"}, EXIT_BAD_INPUT,
          "lakehouse.yaml:8: environments.prod.catalogs.lake.type: 'glu' is not a catalog type.",
          ("Did you mean 'glue'?",)),
    Wrong("a catalog type that is not reached", {"type": "jdbc"}, EXIT_FAILED, "The catalog 'lake' is of type jdbc",
          ("Wired so far: sqlite, glue,",)),
    *(
        Wrong(f"warehouse {text}", glue(warehouse=json.dumps(text)), EXIT_BAD_INPUT,
              f"catalogs.lake.warehouse: {text!r} is not a place for tables.", ("Write s3://BUCKET/FOLDER.",))
        for text in ("warehouse", "C:\\data", "s3:/b/w", "s3://", "https://host/w", "../../etc", "'; DROP TABLE x; --")
    ),
    Wrong("an address that is none", glue(s3_endpoint="localhost"), EXIT_BAD_INPUT,
          "catalogs.lake.s3.endpoint: 'localhost' is not the address of a service.", ("Write http://HOST:PORT",)),
    Wrong("a password in an address", glue(s3_endpoint="http://ann:hunter22@host"), EXIT_BAD_INPUT,
          "lakehouse.yaml:12: catalogs.lake.s3.endpoint: a secret stands in the file.", ("Write ${{env:NAME}}",)),
    Wrong("an odd password in an address", glue(s3_endpoint=f"http://ann:{SECRET}@host"), EXIT_BAD_INPUT,
          "catalogs.lake.s3.endpoint: '…@host' is not the address of a service.", ("Write http://HOST:PORT",)),
    Wrong("REST: nothing listens", {**REST, "uri": "{nobody}"}, EXIT_FAILED, "{nobody_host} cannot be reached: ",
          ("Connection refused", "Check `uri`")),
    Wrong("REST: a web page", {**REST, "uri": "{page}"}, EXIT_BAD_INPUT, "{page} answers with a web page.",
          ("login page", "Check `uri` of the catalog.")),
    Wrong("REST: TLS to a plain port", {**REST, "uri": "https://{page_host}"}, EXIT_FAILED,
          "{page_host} does not speak TLS.", ("http://",)),
    Wrong("REST: no address", REST, EXIT_BAD_INPUT, "catalogs.lake.uri: '' is not the address of a REST catalog.",
          ("Write https://HOST/PATH, without /v1.",)),
    Wrong("Hive: nothing listens", {**HIVE, "uri": "thrift://{nobody_host}"}, EXIT_FAILED,
          "The metastore thrift://{nobody_host} cannot be reached: Connection refused.", ("Check `uri`",)),
    Wrong("Hive: a port that speaks HTTP", {**HIVE, "uri": "thrift://{curt_host}"}, EXIT_FAILED,
          "thrift://{curt_host} speaks HTTP", ("wants the thrift port (9083 unless it was moved)",)),
    Wrong("Hive: no address", HIVE, EXIT_BAD_INPUT, "catalogs.lake.uri: '' is not the address of a Hive Metastore.",
          ("Write thrift://HOST:9083.",)),
)  # fmt: skip


@pytest.fixture(scope="module")
def passed() -> Iterator[Gate]:
    """A Glue catalog with a table in a bucket that is not there, and a Hive table."""
    account = account_number()
    with gate(servers.aws().endpoint, account) as made, opened(settings(servers.aws().endpoint)) as sessions:
        client, _ = clients(sessions, account)
        client.create_database(DatabaseInput={"Name": "shop"})
        entry = iceberg(f"s3://{LOST}/shop/orders/metadata/00001-a.metadata.json")
        client.create_table(DatabaseName="shop", TableInput={"Name": "orders", **entry})
        client.create_table(DatabaseName="shop", TableInput={"Name": "hive", "TableType": "EXTERNAL_TABLE"})
        yield made


@pytest.fixture(scope="module")
def addresses(passed: Gate) -> Iterator[Addresses]:
    """The servers."""
    page = Answer(200, b"<html><body>Welcome</body></html>", {"Content-Type": "text/html"})
    with ExitStack() as stack:
        nobody = stack.enter_context(socket.socket())
        nobody.bind(("127.0.0.1", 0))  # held, and not listened to
        welcome = stack.enter_context(answering(lambda _: page)).endpoint
        closed = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        yield Addresses(passed.endpoint, welcome, closed, stack.enter_context(curt()))


class _Curt(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


@contextmanager
def curt() -> Iterator[str]:
    """A server that takes the first byte it gets for a bad request, as web servers do."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Curt) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and an environment in which nobody is signed in."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "FIRNLINE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def written(folder: Path, catalog: Mapping[str, str]) -> None:
    lines = "".join(f"{key.replace('_', '.', 1)}: {text}\n" for key, text in catalog.items())
    (folder / "lakehouse.yaml").write_text(project(lines), encoding="utf-8")


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_what_is_wrong_is_said(
    case: Wrong,
    addresses: Addresses,
    passed: Gate,
    alone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One message: what is wrong with its values, why, and the next step; the exit code of the table, no secret."""
    places = addresses.places()
    written(alone, {key: text.format(**places) for key, text in case.catalog.items()})
    for name, text in case.environ.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setattr(passed, "refusal", lambda call: case.answer if call.service == case.to else None)
    code = app.run([*case.command, "--env", "prod", "-C", str(alone)])
    told = capsys.readouterr().err
    assert (code, told.count("error: ")) == (case.code, int(case.code != EXIT_DONE))
    first, *rest = told.removeprefix("error: ").splitlines()
    assert case.what.format(**places) in first
    assert [text for text in case.more if text.format(**places) not in " ".join([first, *rest])] == []
    assert not [word for word in ("Traceback", "defect", "Unexpected", SECRET) if word in told]


@pytest.mark.parametrize(
    "command", ["status", "explain", "history", "tables show", "scan-cost", "verify", "branch list"]
)
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_refused(
    name: str,
    command: str,
    passed: Gate,
    alone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A name that could be no table's is refused in one printable sentence, before any file is asked for."""
    written(alone, {key: text.format(aws=passed.endpoint) for key, text in glue().items()})
    for key, text in KEYS.items():
        monkeypatch.setenv(key, text)
    passed.calls.clear()
    code = app.run([*command.split(), "--env", "prod", "-C", str(alone), "--", name])
    told = capsys.readouterr().err
    assert (code, told.count("error: ")) == (EXIT_BAD_INPUT, 1)
    assert all(line.isprintable() and len(line) < 200 for line in told.splitlines())
    assert [call for call in passed.calls if call.service == "s3" or call.writes] == []


def test_a_name_is_looked_for_as_it_is(
    passed: Gate, alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What looks like SQL or like a shell's goes to the catalog letter by letter, and is not there."""
    written(alone, {key: text.format(aws=passed.endpoint) for key, text in glue().items()})
    for key, text in KEYS.items():
        monkeypatch.setenv(key, text)
    for name in ("'; DROP TABLE x; --", "$(reboot)", "🐘", '" OR 1=1'):
        passed.calls.clear()
        assert app.run(["explain", f"shop.{name}", "-C", str(alone)]) == EXIT_BAD_INPUT
        assert f"There is no table shop.{name} in the catalog 'lake'." in capsys.readouterr().err
        asked = [json.loads(call.subject)["Name"] for call in passed.calls if call.operation == "GetTable"]
        assert asked == [name]


def test_a_wrong_token_is_not_repeated(
    alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A REST catalog that does not take the token is told from one that wants any."""
    monkeypatch.setenv("TOKEN", SECRET)
    for token, what in (("${env:TOKEN}", "does not take the token"), (None, "asks who you are")):
        more = {} if token is None else {"token": token}
        written(alone, {**REST, "uri": servers.rest().uri, **more})
        assert app.run(["status", "-C", str(alone)]) == EXIT_BAD_INPUT
        told = capsys.readouterr().err
        assert what in told
        assert SECRET not in told


MISSING = {
    "aws": ({"type": "glue", "region": "us-east-1"}, ("boto3", "botocore", "s3transfer")),
    "hive": ({"type": "hive", "uri": "thrift://127.0.0.1:9"}, ("thrift",)),
}
WITHOUT = """
import importlib.machinery, sys
class Path(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in sys.argv[1].split() else super().find_spec(name, path, target)
sys.meta_path = [Path if each is importlib.machinery.PathFinder else each for each in sys.meta_path]
from firnline.cli import app
sys.exit(app.run(sys.argv[2:]))
"""


@pytest.mark.parametrize("part", MISSING)
def test_a_missing_part_is_one_sentence(part: str, alone: Path) -> None:
    """Where the libraries of a part are not installed, what to install is said, and nothing else."""
    catalog, libraries = MISSING[part]
    written(alone, catalog)
    command = [sys.executable, "-c", WITHOUT, " ".join(libraries), "status", "-C", str(alone)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (EXIT_FAILED, "")
    assert f"Install it: pip install 'firnline[{part}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 2
