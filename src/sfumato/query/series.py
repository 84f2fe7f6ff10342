"""Series: releases of several periods asked as one, the period a column like any other, with years added up.

Each release has noise of its own, drawn anew, so the noise variances of periods add up. Sampling errors do not where
the samples share units, which they may; then the error of a year is withheld.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import QueryError
from sfumato.pictures import Picture
from sfumato.query.axis import Choice
from sfumato.query.changed_table import ChangedTable, refuse_other_levels
from sfumato.query.crosstab import Crosstab
from sfumato.query.engine import QueryEngine, open_folder
from sfumato.query.figures import LARGEST_PAGE
from sfumato.query.periods import LAST, AtPeriod, by_period, compared, over_periods
from sfumato.query.series_table import TOGETHER, ReleasePeriod, SeriesTable
from sfumato.schema import Where


@dataclass(frozen=True, eq=False)
class Series:
    """Releases in the order of their periods, each opened or given by its folder; each question is asked of all."""

    engines: tuple[QueryEngine, ...]

    def __init__(self, releases: Iterable[QueryEngine | Path | str]) -> None:
        if isinstance(releases, str | Path | QueryEngine):
            raise QueryError("A series is of several releases; give a list of their folders, or of opened ones.")
        object.__setattr__(self, "engines", by_period([_opened(one) for one in releases]))
        if not self.engines:
            raise QueryError("A series has no releases; name the folder of each.")
        if not all(self.periods):
            raise QueryError(
                "A release of the series has no period; its plan gives one, for example period = '2026-Q1'."
            )

    @property
    def periods(self) -> tuple[str, ...]:
        return tuple(engine.release.manifest.period for engine in self.engines)

    def total(self, where: Where | None = None, of: str | None = None) -> tuple[AtPeriod, ...]:
        """The total of the same levels in each release; a release that cannot answer says why."""
        return over_periods(self.engines, where, of)

    def table(
        self,
        rows: str | Sequence[str] = (),
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        together: str | None = None,
    ) -> SeriesTable:
        """The same table in each release side by side; `together` adds a "sum" or "mean" of each year."""
        if together is not None and together not in TOGETHER:
            raise QueryError(f"Periods are taken together as their {' or '.join(TOGETHER)}; got '{together}'.")
        tables = self._tables(rows, where, of, at)
        return SeriesTable(tables, tuple(map(ReleasePeriod, self.periods)), together)

    def compare(
        self,
        rows: str | Sequence[str] = (),
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        since: str = LAST,
        until: str | None = None,
    ) -> SeriesTable:
        """How the numbers of a table changed, each with its error and a verdict.

        `since` is "last", the period before each, "year", the same period a year before, or the name of a period;
        `until` names the one period that is compared, else all that can be are.
        """
        pairs, tables = compared(self.periods, since, until), self._tables(rows, where, of, at)
        known = dict(zip(self.periods, tables, strict=True))
        changes = tuple(ChangedTable(known[before], known[after], before, after) for before, after in pairs)
        codes = (ReleasePeriod(after, f"{before} → {after}") for before, after in pairs)
        return SeriesTable(changes, tuple(codes))

    def plot(
        self,
        rows: str | Sequence[str] = (),
        where: Where | None = None,
        of: str | None = None,
        at: Mapping[str, Choice] | None = None,
        level: float = 0.90,
        width: float = 720,
    ) -> Picture:
        """Lines over the periods with the bands of their intervals, one for each row of a table."""
        return self.table(rows, where, of, at).plot("line", level, width)

    def last(self, count: int) -> "Series":
        """The last so many periods."""
        if count < 1:
            raise QueryError(f"The last {count} periods were asked for; a series has one at least.")
        return Series(self.engines[-count:])

    def _tables(
        self, rows: str | Sequence[str], where: Where | None, of: str | None, at: Mapping[str, Choice] | None
    ) -> tuple[Crosstab, ...]:
        """The same table in each release; one that cannot answer is named by its period."""
        tables = []
        for engine, period in zip(self.engines, self.periods, strict=True):
            try:
                tables.append(engine.table(rows, None, where, of, at))
            except QueryError as error:
                raise QueryError(f"{period}: {error}") from None
        refuse_other_levels(tables, self.periods)
        cells = len(tables) * tables[0].size
        if cells > LARGEST_PAGE:
            raise QueryError(
                f"The table has {cells:,} cells over {len(tables)} periods, more than {LARGEST_PAGE:,}; show a higher "
                "level, fewer variables, or filter."
            )
        return tuple(tables)

    def warnings(self) -> list[str]:
        """What a reader must be told of any of the releases."""
        pairs = zip(self.periods, self.engines, strict=True)
        return [f"{period}: {warning}" for period, engine in pairs for warning in engine.warnings()]


def series(releases: Iterable[QueryEngine | Path | str]) -> Series:
    """The series of some releases, each opened or given by its folder."""
    return Series(releases)


def _opened(release: QueryEngine | Path | str) -> QueryEngine:
    """A release of a series, opened unless it is."""
    if isinstance(release, QueryEngine):
        return release
    if isinstance(release, str | Path):
        return open_folder(release)
    raise QueryError(
        f"A series is of releases, each opened by sfumato.open or given by its folder; one is given as "
        f"{type(release).__name__}."
    )
