"""Which verb is which function. The order is the order of `firnline --help`."""

from __future__ import annotations

from collections.abc import Callable

from firnline.cli import (
    apply,
    config,
    doctor,
    explain,
    history,
    iam_policy,
    init,
    ledger,
    local,
    plan,
    policy,
    refs,
    scan_cost,
    spark_conf,
    sql,
    status,
    tables,
    verify,
)

VERBS: dict[str, Callable[..., None]] = {
    "init": init.init,
    "doctor": doctor.doctor,
    "plan": plan.plan,
    "apply": apply.apply,
    "status": status.status,
    "explain": explain.explain,
    "history": history.history,
    "rollback": history.rollback,
    "ledger": ledger.ledger,
    "sql": sql.sql,
    "verify": verify.verify,
    "scan-cost": scan_cost.scan_cost,
    "spark-conf": spark_conf.spark_conf,
    "iam-policy": iam_policy.iam_policy,
}
GROUPS: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
    "tables": (
        tables.HELP,
        {"list": tables.list_, "show": tables.show, "adopt": tables.adopt, "rename": tables.rename},
    ),
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
    "local": (
        local.HELP,
        {"up": local.up, "status": local.status, "logs": local.logs, "down": local.down, "compose": local.compose},
    ),
    "policy": (policy.HELP, {"show": policy.show}),
    "config": (config.HELP, {"show": config.show, "schema": config.schema}),
}
