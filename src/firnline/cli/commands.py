"""Which verb is which function. The order is the order of `firnline --help`."""

from __future__ import annotations

from collections.abc import Callable

from firnline.cli import apply, config, doctor, history, init, ledger, plan, refs, spark_conf, sql, tables, verify

VERBS: dict[str, Callable[..., None]] = {
    "init": init.init,
    "doctor": doctor.doctor,
    "plan": plan.plan,
    "apply": apply.apply,
    "history": history.history,
    "rollback": history.rollback,
    "ledger": ledger.ledger,
    "sql": sql.sql,
    "verify": verify.verify,
    "spark-conf": spark_conf.spark_conf,
}
GROUPS: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
    "tables": (tables.HELP, {"list": tables.list_, "show": tables.show, "adopt": tables.adopt}),
    "branch": (
        refs.BRANCH_HELP,
        {
            "list": refs.list_branches,
            "create": refs.create_branch,
            "drop": refs.drop_branch,
            "forward": refs.forward,
        },
    ),
    "tag": (refs.TAG_HELP, {"list": refs.list_tags, "create": refs.create_tag, "drop": refs.drop_tag}),
    "config": (config.HELP, {"show": config.show, "schema": config.schema}),
}
