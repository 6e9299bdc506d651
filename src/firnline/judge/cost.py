"""Everything in one currency: what leaving a table as it is costs in a day, and what mending it costs once. Pure.

These are estimates to rank by, from prices, from how often the policy says the table is read, and from rates that are
learnt from our own runs as soon as there are some. Each term is as simple as its name; none is ever below nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from firnline.config.prices import Prices
from firnline.judge.values import Cost, Health, Observation, Rates, Subject

GIGABYTE = 2**30
DAYS_PER_MONTH = 365.25 / 12
OPEN_REQUESTS = 3  # the end of the file, and two ranges of it: the least a reader of Parquet asks for
LIST_PAGE = 1000
OBSERVATIONS_MIN = 3  # a median of fewer is somebody's bad day
SORT_FACTOR = 2.0  # rewriting with a sort takes about twice as long as without


def kept(subject: Subject, stored: int) -> Cost:
    """A day of storing bytes."""
    prices = subject.prices
    return Cost(bytes=stored, money=stored / GIGABYTE * prices.storage_gb_month / DAYS_PER_MONTH)


def opened(subject: Subject, files: float, *, everywhere: bool = False) -> Cost:
    """A day of opening files that need not be: in the share of the table that a read opens, or all of them."""
    share = 1.0 if everywhere else subject.policy.number("read-share")
    times = subject.policy.number("reads-per-day") * share * files
    requests = round(times * OPEN_REQUESTS)
    seconds = times * subject.rates.open_core_seconds
    money = requests * subject.prices.get_thousand / 1000 + _compute(seconds, subject.prices)
    return Cost(core_seconds=seconds, requests=requests, money=money)


def scanned(subject: Subject, size: float, *, everywhere: bool = False) -> Cost:
    """A day of reading bytes that need not be read."""
    share = 1.0 if everywhere else subject.policy.number("read-share")
    read = subject.policy.number("reads-per-day") * share * size
    seconds = read / subject.rates.read_bytes_per_core_second
    return Cost(bytes=round(read), core_seconds=seconds, money=_compute(seconds, subject.prices))


def rewritten(subject: Subject, size: int, files_in: int, *, factor: float = 1.0) -> Cost:
    """Reading files and writing their rows again, into files of the target size."""
    seconds = size / subject.rates.rewrite_bytes_per_core_second * factor + files_in * subject.rates.open_core_seconds
    reads, writes = files_in * OPEN_REQUESTS, -(-size // max(1, subject.policy.whole("target-file-size")))
    prices = subject.prices
    money = reads * prices.get_thousand / 1000 + writes * prices.put_thousand / 1000 + _compute(seconds, prices)
    return Cost(bytes=size, core_seconds=seconds, requests=reads + writes, money=money)


def asked(subject: Subject, *, gets: int = 0, puts: int = 0, lists: int = 0) -> Cost:
    """Requests, and nothing but requests."""
    prices = subject.prices
    money = (gets * prices.get_thousand + puts * prices.put_thousand + lists * prices.list_thousand) / 1000
    return Cost(requests=gets + puts + lists, money=money)


def _compute(core_seconds: float, prices: Prices) -> float:
    return core_seconds / 3600 * prices.core_hour


def grade(subject: Subject, waiting: Cost) -> Health:
    """`costly` from so much a day on, as the policy has it; `untidy` below."""
    return Health.COSTLY if waiting.money >= subject.policy.number("costly-from") else Health.UNTIDY


def calibrated(rates: Rates, observations: Iterable[Observation]) -> Rates:
    """The rates with the median speed of our own rewriting, once there are three runs that tell."""
    speeds = [each.bytes / each.core_seconds for each in observations if each.bytes > 0 and each.core_seconds > 0]
    if len(speeds) < OBSERVATIONS_MIN:
        return rates
    return replace(rates, rewrite_bytes_per_core_second=median(speeds), runs=len(speeds))
