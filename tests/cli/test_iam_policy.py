"""`firnline iam-policy`: stdout is the policy alone, and AWS is asked nothing."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from firnline.cli import app
from firnline.core.errors import EXIT_BAD_INPUT, EXIT_DONE

YAML = """
version: 1
name: shop
default: prod
environments:
  prod:
    access: read
    catalogs:
      lake:
        type: glue
        region: eu-west-1
        warehouse: s3://lake-prod/warehouse
        s3.access-key-id: ${env:THE_ID}
        s3.secret-access-key: ${env:THE_KEY}
  local: {catalogs: {lake: {type: sqlite}}}
"""
SECRET = "hunter2-and-more"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with no way out of this machine."""

    def refuse(*_: object) -> NoReturn:
        pytest.fail("a policy is written without asking anybody")

    (tmp_path / "lakehouse.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("THE_ID", "the-id")
    monkeypatch.setenv("THE_KEY", SECRET)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tmp_path


def policy(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, Any], str]:
    """The policy on stdout, and what was said beside it."""
    assert app.run(["iam-policy", *arguments]) == EXIT_DONE
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    return json.loads(out), err


@pytest.mark.parametrize("form", ["table", "json"])
def test_stdout_is_the_policy(capsys: pytest.CaptureFixture[str], form: str) -> None:
    """It can be attached as it comes; what its reader has to know stands on stderr."""
    found, said = policy(capsys, "--for", "look", "-o", form)
    assert found["Version"] == "2012-10-17"
    assert {each["Effect"] for each in found["Statement"]} == {"Allow"}
    assert "note: The account is not declared" in said


def test_looking_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Who does not say gets the smaller one."""
    assert policy(capsys)[0] == policy(capsys, "--for", "look")[0]
    assert policy(capsys)[0] != policy(capsys, "--for", "operate")[0]


def test_an_account_is_filled_in(capsys: pytest.CaptureFixture[str]) -> None:
    """--account stands in every ARN that has one, and there is nothing more to say of it."""
    found, said = policy(capsys, "--account", "123456789012")
    assert "arn:aws:glue:eu-west-1:123456789012:catalog" in str(found)
    assert "account" not in said


def test_csv_has_a_line_for_each_action(capsys: pytest.CaptureFixture[str]) -> None:
    """A sheet to look through: statement, action, resources."""
    assert app.run(["iam-policy", "-o", "csv"]) == EXIT_DONE
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "statement,action,resources"
    assert "Files,s3:GetObject,arn:aws:s3:::lake-prod/warehouse/*" in lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--account", "12"), "'12' is not the number of an AWS account."),
        (("--env", "local"), "Nothing of the environment 'local' is on AWS"),
        (("--for", "everything"), "'everything' is not one of"),
    ],
)
def test_bad_input_is_said(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    """One clear message, and nothing on stdout that could be attached."""
    assert app.run(["iam-policy", *arguments]) == EXIT_BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_nothing_is_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Printing a policy makes no file in the project."""
    policy(capsys)
    assert [path.name for path in project.iterdir()] == ["lakehouse.yaml"]
