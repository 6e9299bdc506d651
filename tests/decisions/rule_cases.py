"""THE table of rules: what each says of a table, at its thresholds and beside them."""

from __future__ import annotations

from tests.decisions import rule_cases_files, rule_cases_readers, rule_cases_upkeep
from tests.decisions.rule_case import Case

CASES: tuple[Case, ...] = (*rule_cases_readers.CASES, *rule_cases_files.CASES, *rule_cases_upkeep.CASES)
