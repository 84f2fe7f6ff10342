"""The survey's plan of tables beside its plan of one cube at the same mu, each rehearsed and laid beside the truth.

Both have mu 2, and both are looked at in the same tables: all of up to three of the seven variables of the cube.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.assessment import ReportRules, assess
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.studies.study import Line
from sfumato.synth import write

CUBE, TABLES = "ors-cube", "ors"
QUOTES, WAYS = 20_000, 3
Found = dict[tuple[str, int], tuple[float, float, float]]
"""For a statistic and a number of variables: the error of cells, relative and as it is, and the share of grade A."""


def lines(_runs: int) -> list[Line]:
    with TemporaryDirectory() as folder:
        made = write("ors", Path(folder), QUOTES)
        asked = tuple(_asked(Plan.read(SHIPPED / f"{CUBE}.toml")))
        cube, tables = (_assessed(name, Path(folder), made, asked) for name in (CUBE, TABLES))
    return [line for of in sorted(tables) for line in _lines(of, cube[of], tables[of])]


def _asked(plan: Plan) -> Iterator[tuple[str, ...]]:
    names = [level.name for level in plan.over.by(plan.measures[0])]
    for ways in range(1, WAYS + 1):
        yield from combinations(names, ways)


def _assessed(name: str, folder: Path, made: Path, asked: tuple[tuple[str, ...], ...]) -> Found:
    plan = Plan.read(SHIPPED / f"{name}.toml")
    data = Microdata.open(made, plan.schema)
    run(plan, data, None, folder / name, Options(rehearsal=1))
    found: Found = {}
    for product in assess(plan, data, folder / name, ReportRules(tables=asked)).numbers["products"]:
        for part in product["by_dimension"]:
            apart = part["differences"]
            told = apart["relative"][1], apart["root_mean_square"], part["grade_a"] or 0.0
            found[product["title"], part["dimension"]] = told
    return found


def _lines(of: tuple[str, int], cube: tuple[float, ...], tables: tuple[float, ...]) -> Iterator[Line]:
    what = f"{of[0]}, {of[1]} variable{'s' if of[1] > 1 else ''}"
    yield Line(f"{what}: median relative error", f"{cube[0]:.0%}", f"{tables[0]:.0%}")
    yield Line(f"{what}: root mean squared error", f"{cube[1]:,.0f}", f"{tables[1]:,.0f}")
    yield Line(f"{what}: cells of grade A", f"{cube[2]:.1%}", f"{tables[2]:.1%}")
