"""Line ends: the name of each series and its last number with its error, at the end of its line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.pictures.canvas import EDGE, fitted, stacked
from sfumato.pictures.mark import Mark, shown
from sfumato.pictures.svg import breadth, group

STEP = 14
"""From one line of words to the next."""


@dataclass(frozen=True)
class Placed:
    """A mark where it stands."""

    mark: Mark
    place: int
    x: float
    y: float


def room_of(marks: Sequence[Mark], series: Sequence[str], width: float) -> float:
    """How much room beside the lines their names and numbers get."""
    widest = max(*(breadth(name) for name in series), *(breadth(_number(mark), 11.5) for mark in marks))
    return min(widest + 16, width * 0.3)


def ends_drawn(runs: Mapping[str, Sequence[Placed]], room: float, top: float, bottom: float) -> str:
    """The names and last numbers, moved apart where two would stand on each other."""
    last = {name: max(run, key=lambda one: one.place) for name, run in runs.items() if run}
    edge, order = max(one.x for one in last.values()), sorted(last, key=lambda name: last[name].y)
    written = {name: fitted(name, room - 14, lines=2) if name else [] for name in order}
    numbers = {name: fitted(_number(last[name].mark), room - 14, lines=1, size=11.5) for name in order}
    tall = [STEP * (len(written[name]) + len(numbers[name])) + 3 for name in order]
    wanted = [last[name].y - high / 2 + 11 for name, high in zip(order, tall, strict=True)]
    parts = []
    for name, y in zip(order, apart(wanted, tall, top, bottom + EDGE), strict=True):
        place, lines = list(runs).index(name), written[name]
        kind = f"f{place}" if len(runs) > 1 else "ink"
        drawn = stacked(edge + 12, y, lines, kind, step=STEP)
        drawn += stacked(edge + 12, y + STEP * len(lines), numbers[name], "number", step=STEP)
        parts.append(group(drawn, tip=name) if name else drawn)
    return "".join(parts)


def _number(mark: Mark) -> str:
    """The number with its margin, and its grade beside it."""
    return f"{shown(mark)} {mark.grade if mark.grade.isalpha() else ''}".strip()


def apart(wanted: Sequence[float], tall: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places as near to those that are wanted, in their order, as heights and a frame allow; too many start at the top.

    >>> apart([10, 12, 90], [10, 10, 10], 0, 100), apart([95, 96], [10, 10], 0, 100)
    ([10, 20, 90], [80, 90])
    """
    places: list[float] = []
    for y, before in zip(wanted, (0.0, *tall), strict=False):
        places.append(max(y, top, places[-1] + before if places else top))
    edge = bottom
    for place in range(len(places) - 1, -1, -1):
        places[place] = max(min(places[place], edge - tall[place]), top + sum(tall[:place]))
        edge = places[place]
    return places
