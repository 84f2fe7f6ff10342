"""Copies: a cell over a frame published again and again, through the mechanism's own door, given the same numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.confidential.contrasts import watched_contrasts
from sfumato.confidential.stated import Samples
from sfumato.confidential.table_copies import most_moved
from sfumato.confidential.views import (
    BothTold,
    Floats,
    Integers,
    Seen,
    Watched,
    WatchedErrors,
    both_laws,
    chances_of,
    told_too,
)
from sfumato.draws import Draws
from sfumato.errors import PlanError
from sfumato.mechanisms import Cells, Mechanism
from sfumato.release import Noisy, Product, Subject, measured
from sfumato.schema import Family, Frame, Grouping, Table

MOST_ROWS = 4_000_000
"""How many rows are perturbed at once."""
MOST_WATCHED = 64
"""How many cells of a frame that differ are watched: the rows of a firm that move at once show its loss together."""
NOTHING = np.zeros(0)
Given = Mapping[str, Product]


def published(name: str, with_: Mechanism, cells: Cells, draws: Draws, given: Given) -> Product:
    """A measure over a frame as it would be published, for measures that are given it."""
    noisy = with_.perturb(cells, draws, given)
    return measured(Subject(name, "total", name, "", noisy.step), noisy, with_.uncertainty(noisy))


def watched_cells(
    measure: str, with_: Mechanism, sides: tuple[Cells, Cells], samples: Samples, draws: Draws, given: Given
) -> Sequence[Seen]:
    """What differs of a table, of several or of a frame, published so many times; what is given is the same."""
    if isinstance(sides[0].domain, Family):
        seen = watched_contrasts(measure, with_, sides, samples.least, draws)
        return [seen] if seen else []
    if isinstance(sides[0].domain, Table):
        if given:
            raise PlanError(
                f"Measure '{measure}' of a table is given others; an audit holds those as known over a frame."
            )
        return Watched.of(measure, with_, sides, samples, draws) if sides[0].apart(sides[1]).any() else []
    return watched_rows(measure, with_, sides, samples, draws, given)


def watched_rows(
    measure: str, with_: Mechanism, sides: tuple[Cells, Cells], samples: Samples, draws: Draws, given: Given
) -> list[Watched]:
    """The rows or groups of a frame that differ."""
    clean = [with_.clean(side, given) for side in sides]
    places = [int(place) for place in most_moved(np.abs(clean[0] - clean[1]), MOST_WATCHED)]
    if not places:
        return []
    once = {place: next(_drawn(with_, sides[0], place, 1, draws, given)) for place in places}
    laws = both_laws([[with_.law_in(side, place, once[place]) for place in places] for side in sides])
    true, where = [side[places] for side in clean], np.array(places, dtype=np.int64)
    told = BothTold.of(with_, sides)
    many = samples.showing(told_too(chances_of(laws, true[0] - true[1]), told, where))
    (one, stated_one), (other, stated_other) = (
        _seen(with_, [_drawn(with_, side, place, many, draws, given) for place in places]) for side in sides
    )
    if stated_one is None or stated_other is None:
        return [Watched(measure, laws, true[0], true[1], one, other)]
    first = stated_one[:, 0], stated_other[:, 0]
    numbers = Watched(measure, laws, true[0], true[1], one, other, stated=first)
    return [numbers, *WatchedErrors.told(measure, told, (stated_one, stated_other), where)]


def _seen(with_: Mechanism, drawn: Sequence[Iterator[Noisy]]) -> tuple[Integers, Floats | None]:
    """What is seen of cells, a column each, and the variances that are told of them, if any are."""
    seen, told = [], []
    for cell in drawn:
        both = [(with_.seen(noisy), noisy.public.get("variance", NOTHING)) for noisy in cell]
        seen.append(np.concatenate([numbers for numbers, _ in both]))
        told.append(np.concatenate([variances for _, variances in both]))
    return np.stack(seen, axis=1), np.stack(told, axis=1) if len(told[0]) else None


def _drawn(with_: Mechanism, cells: Cells, place: int, samples: int, draws: Draws, given: Given) -> Iterator[Noisy]:
    """One cell so many times, as many at once as there is room for."""
    rows = _rows(cells, place, given)
    most = max(1, MOST_ROWS // len(rows))
    for start in range(0, samples, most):
        copies = min(most, samples - start)
        yield with_.perturb(_copied(cells, rows, copies), draws, _given(given, rows, copies))


def _rows(cells: Cells, place: int, given: Given) -> Integers:
    """The rows of a cell that matter: its first, those not 0, and the one with the largest number that is given."""
    if cells.grouping is None:
        return np.array([place])
    inside = np.flatnonzero(cells.grouping.of == place)
    largest = [inside[np.argmax(one.values[inside])] for one in given.values()]
    return np.unique([*inside[:1], *inside[cells.values[inside] != 0], *largest]).astype(np.int64)


def _copied(cells: Cells, rows: Integers, copies: int) -> Cells:
    frame = _bare(copies)
    grouping = cells.grouping and Grouping(frame, np.repeat(np.arange(copies, dtype=np.int32), len(rows)))
    return replace(cells.taken(frame, np.tile(rows, copies)), grouping=grouping)


def _given(given: Given, rows: Integers, copies: int) -> dict[str, Product]:
    frame = _bare(copies * len(rows))
    return {
        name: replace(one, domain=frame, values=np.tile(one.values[rows], copies))  # type: ignore[type-var]
        for name, one in given.items()
    }


def _bare(size: int) -> Frame:
    """A frame of rows with nothing said about them."""
    return Frame("copy", (), {}, range(size))
