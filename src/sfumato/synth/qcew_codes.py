"""Code lists of the synthetic quarterly census: sectors of the real scheme, finer industries and counties made up.

The two-digit codes and what they stand for are those of the North American Industry Classification System; below them
the tree has about as many branches as the real one, with labels that pretend to nothing: "Construction 2.1" is the
first group of the second branch of construction.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.synth.columns import FIGURES
from sfumato.synth.german import german


@dataclass(frozen=True)
class Sector:
    """A two-digit sector: its branches, its private establishments, their mean size, pay and season."""

    label: str
    prefixes: Sequence[str]
    branches: int
    weight: float  # private establishments, in thousands
    size: float  # mean jobs of a private establishment
    weekly: int  # dollars a job and week
    swing: float  # how far employment goes up and down over the year
    peak: int  # the month in which it is highest


SECTORS = {code: Sector(*figures) for code, figures in FIGURES["qcew"]["sectors"].items()}
OWNERSHIP = {"1": "Federal government", "2": "State government", "3": "Local government", "5": "Private"}
TRADES, LINES = (3, 2, 1, 2, 3), (1, 1, 2, 1, 3, 1)
"""How many five-digit industries a group has, and how many six-digit ones each of those, in turn."""
Level = dict[str, str]


def industries() -> list[Level]:
    """The tree of industries from two to six digits, every parent before its children."""
    levels: list[Level] = []
    for code, sector in SECTORS.items():
        levels.append({"code": code, "label": sector.label, "parent": ""})
        for number, branch in enumerate(_branches(sector), start=1):
            levels.append({"code": branch, "label": f"{sector.label} {number}", "parent": code})
            levels += _below(branch, f"{sector.label} {number}", len(levels), _groups(sector))
    return levels


def leaves(levels: Sequence[Level]) -> list[str]:
    """The codes that are nobody's parent, in order."""
    inner = {level["parent"] for level in levels}
    return [level["code"] for level in levels if level["code"] not in inner]


def _branches(sector: Sector) -> list[str]:
    """The three-digit codes: the digits 1 to 9 after each prefix in turn."""
    if sector.label == "Not classified":
        return ["999"]
    share = -(-sector.branches // len(sector.prefixes))
    listed = [f"{prefix}{digit}" for prefix in sector.prefixes for digit in range(1, share + 1)]
    return listed[: sector.branches]


def _groups(sector: Sector) -> int:
    """Few branches have many groups each, as in the real scheme; what is not classified has one."""
    return 1 if sector.label == "Not classified" else max(2, min(9, round(10 / sector.branches) + 1))


def _below(branch: str, label: str, turn: int, groups: int) -> Iterator[Level]:
    for group in range(1, groups + 1):
        four = {"code": f"{branch}{group}", "label": f"{label}.{group}", "parent": branch}
        yield four
        for trade in range(1, TRADES[(turn + group) % len(TRADES)] + 1):
            five = {"code": f"{four['code']}{trade}", "label": f"{four['label']}.{trade}", "parent": four["code"]}
            yield five
            lines = LINES[(turn + group + trade) % len(LINES)]
            for line in range(1, lines + 1):
                # A five-digit industry that is not split goes on with a zero.
                six = f"{five['code']}{0 if lines == 1 else line}"
                yield {"code": six, "label": f"{five['label']}.{line}", "parent": five["code"]}


def places(counties: int, states: int) -> list[Level]:
    """States and their counties, with made-up names; a county's code is its state's two digits and three of its own."""
    levels: list[Level] = []
    for state in range(1, states + 1):
        code = f"{state:02d}"
        levels.append({"code": code, "label": f"State {code}", "parent": ""})
        first, last = (counties * (state - 1) // states, counties * state // states)
        for county in range(last - first):
            own = f"{2 * county + 1:03d}"
            levels.append({"code": code + own, "label": f"County {own}, State {code}", "parent": code})
    return levels


def write_levels(path: Path, levels: Sequence[Level]) -> None:
    """A list of levels as CSV: code, label, parent, and the label in German."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["code", "label", "parent", "label.de"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(level | {"label.de": german(level["label"])} for level in levels)
