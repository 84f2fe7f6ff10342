"""Two noisy tables of totals are taken for one noise where they are the same numbers, however they are written."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.calibrate.contradictions import same_noise
from sfumato.plan.control import ControlTable, totals_of
from sfumato.release import Subject
from sfumato.schema import Attribute, Levels, Schema

SCHEMA = Schema((Attribute("age", Levels.of("abcd")), Attribute("sex", Levels.of("fm"))))
OF = Subject("x", "count", "X", "x", Fraction(1))


def product(by, values, spelling="{}", error="20"):
    """A control of totals as a file spells them."""
    table = SCHEMA.table(by)
    leaves = [attribute.levels.leaves for attribute in table.attributes]
    rows = [
        ("a line", dict(zip(table.names, (one[at] for one, at in zip(leaves, place, strict=True)), strict=True))
         | {"value": spelling.format(int(values[place])), "standard_error": error})
        for place in np.ndindex(*table.shape)
    ]  # fmt: skip
    control = ControlTable("c", "x", tuple(by), "published", totals_of(rows, table, "a file"))
    return control.product(SCHEMA, OF)


def noisy(seed):
    rng = np.random.default_rng(seed)
    return (500 + 100 * np.arange(8).reshape(4, 2) + rng.normal(0, 20, (4, 2))).round().astype(int)


BOTH, AGES = ("age", "sex"), ("age",)
SAME = {
    "the same digits": (BOTH, lambda cells: cells, "{}", "20"),
    "with a point": (BOTH, lambda cells: cells, "{}.0", "20.00"),
    "as a power": (BOTH, lambda cells: cells, "{}e0", "2e1"),
    "in tens": (BOTH, lambda cells: (cells / 10).round() * 10, "{}", "20"),
    "sums": (AGES, lambda cells: cells.sum(axis=1), "{}", "28.3"),
    "sums in tens": (AGES, lambda cells: (cells.sum(axis=1) / 10).round() * 10, "{}", "28.3"),
}


@pytest.mark.parametrize(("by", "of", "spelling", "error"), SAME.values(), ids=SAME)
def test_a_table_and_what_was_printed_of_it_have_one_noise(by, of, spelling, error):
    """Errors of 20 and more: eight cells agree by chance in one of 10⁹ pairs, four sums in tens in one of 10⁵."""
    for seed in range(5):
        cells = noisy(seed)
        printed = product(by, of(cells), spelling, error)
        for pair in ((product(BOTH, cells), printed), (printed, product(BOTH, cells))):
            assert same_noise(*pair)


@pytest.mark.parametrize(("by", "of", "spelling", "error"), SAME.values(), ids=SAME)
def test_a_table_with_noise_of_its_own_is_another_one_however_it_is_written(by, of, spelling, error):
    for seed in range(20):
        assert not same_noise(product(BOTH, noisy(seed)), product(by, of(noisy(seed + 100)), spelling, error))


def test_where_rounding_hides_the_noise_nothing_is_told():
    """In hundreds beside errors of 20 any two tables of the same records agree."""
    cells = noisy(1)
    assert not same_noise(product(BOTH, cells), product(BOTH, (cells / 100).round() * 100, "{}"))
