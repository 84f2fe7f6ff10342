"""Periods: their order and what lies a year before one; the same question to several releases of a series."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sfumato.errors import QueryError, nearest
from sfumato.query.engine import QueryEngine
from sfumato.query.estimate import Estimate
from sfumato.schema import Where

When = tuple[int, tuple[tuple[bool, int, str], ...]]
LAST, YEAR = SINCE = ("last", "year")
"""What a period is compared with, if no period is named: the one before it, or the same one a year before."""


class NothingBeforeError(QueryError):
    """A period that has nothing to be compared with."""


@dataclass(frozen=True)
class AtPeriod:
    """The answer of one release of a series, or why it has none."""

    period: str
    estimate: Estimate | None
    reason: str = ""


def by_period(engines: Sequence[QueryEngine]) -> tuple[QueryEngine, ...]:
    """The releases in the order of their periods, each of another one."""
    ordered = sorted(engines, key=lambda engine: when(engine.release.manifest.period))
    for one, other in pairwise(engine.release.manifest.period for engine in ordered):
        if one == other:
            raise QueryError(f"Two of the releases are of the period '{one}'; ask the one that supersedes the other.")
    return tuple(ordered)


def over_periods(
    engines: Sequence[QueryEngine], where: Where | None = None, of: str | None = None
) -> tuple[AtPeriod, ...]:
    """The total of the same levels in each release, by period; a release that cannot answer says why."""
    return tuple(_at(engine, where or {}, of) for engine in by_period(engines))


def _at(engine: QueryEngine, where: Where, of: str | None) -> AtPeriod:
    period = engine.release.manifest.period
    try:
        return AtPeriod(period, engine.total(where, of))
    except QueryError as error:
        return AtPeriod(period, None, str(error))


def when(period: str) -> When:
    """The place of a period in time: its year, then the numbers and words of its name.

    >>> sorted(["2026", "2025-Q4", "2025-Q10", "Q1 2026", ""], key=when)
    ['', '2025-Q4', '2025-Q10', '2026', 'Q1 2026']
    """
    parts = re.findall(r"\d+|\D+", period.casefold())
    year = next((int(part) for part in parts if re.fullmatch(r"[12]\d{3}", part, re.ASCII)), -1)
    return year, tuple((not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts)


def a_year_before(period: str) -> str:
    """The name that the same period had a year before; '' where it names no year.

    >>> a_year_before("2026-Q3"), a_year_before("Q3 2026"), a_year_before("spring")
    ('2025-Q3', 'Q3 2025', '')
    """
    year = re.search(r"(?<!\d)[12]\d{3}(?!\d)", period, re.ASCII)
    return f"{period[: year.start()]}{int(year[0]) - 1}{period[year.end() :]}" if year else ""


def counted_from(since: str) -> tuple[str, tuple[str, ...]]:
    """What changes are counted from, and the very releases that an address names with it, by digits of their hashes.

    >>> counted_from("last,2e82d4a4f1a4,8ad8e7dae52e"), counted_from("2026,2027")
    (('last', ('2e82d4a4f1a4', '8ad8e7dae52e')), ('2026,2027', ()))
    """
    told = re.fullmatch(rf"({'|'.join(SINCE)})((?:,[0-9a-f]{{12}})+)", since)
    return (told[1], tuple(told[2][1:].split(","))) if told else (since, ())


def compared(periods: Sequence[str], since: str = LAST, until: str | None = None) -> tuple[tuple[str, str], ...]:
    """Which periods, in their order, are compared with which earlier ones: the earlier first, and then the later.

    >>> compared(["2025-Q2", "2026-Q1", "2026-Q2"])
    (('2025-Q2', '2026-Q1'), ('2026-Q1', '2026-Q2'))
    >>> compared(["2025-Q2", "2026-Q1", "2026-Q2"], "year"), compared(["2025", "2026"], "2025", "2026")
    ((('2025-Q2', '2026-Q2'),), (('2025', '2026'),))
    """
    known = [*periods]
    for asked in (one for one in (since, until) if one is not None and one not in SINCE):
        if asked not in known:
            raise QueryError(f"There is no period '{asked[:100]}' here; {nearest(asked[:100], known)}")
    if since in {LAST, YEAR} and since not in known:
        before = dict(pairwise(reversed(known))) if since == LAST else {one: a_year_before(one) for one in known}
        pairs = [(before[one], one) for one in known if before.get(one) in known]
    else:
        later = known[known.index(since) + 1 :] if until is None else [until]
        pairs = [(since, one) for one in later if one != since]
    kept = tuple(pair for pair in pairs if until in {None, pair[1]})
    if not kept:
        raise NothingBeforeError(_alone(since, until, known))
    return kept


def _alone(since: str, until: str | None, known: Sequence[str]) -> str:
    """Why there is nothing to compare, and what there is."""
    if since == until:
        return f"{since} is not compared with itself. Periods here: {', '.join(known)}."
    of = f"{until or known[-1]} cannot be compared" if known else "There is nothing to compare"
    why = {LAST: "no earlier period is here", YEAR: "the same period of the year before is not here"}
    return f"{of}: {why.get(since, 'it is compared with another period')}. Periods here: {', '.join(known)}."
