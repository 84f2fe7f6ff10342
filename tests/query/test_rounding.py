"""A total that was moved to an exact control has no error: what is 0 to rounding is 0, however it is asked for."""

import numpy as np
import pytest
from worlds import engine_of, subject_of

from sfumato.release import Calibrated, Control, Cube, Independent, Raked
from sfumato.schema import Attribute, Level, Levels, Table

NAMES = ("a", "b", "c")
TABLE = Table(
    tuple(
        Attribute(name, Levels.of([f"{name}{place}" for place in range(size)]))
        for name, size in zip(NAMES, (7, 5, 3), strict=True)
    )
)
VALUES = np.random.default_rng(1).integers(20, 1000, TABLE.shape)
SETS = [[("a",), ("b",)], [("a", "b")], [("a", "b"), ("c",)], [("a", "b"), ("b", "c")]]


def engine(kind, controls, variance):
    listed = tuple(Control(tuple(map(Level, by)), variance) for by in controls)
    return engine_of(Cube(subject_of("jobs"), TABLE, VALUES, kind(Independent(123.7), listed)))


@pytest.mark.parametrize("kind", [Calibrated, Raked])
@pytest.mark.parametrize("controls", SETS, ids=str)
def test_what_exact_controls_fix_has_no_error(kind, controls):
    asked = engine(kind, controls, 0.0)
    for by in controls:
        table = asked.table(by[0], *by[1:])
        assert {figure.noise_variance for _, figure in table.items()} == {0.0}
        assert all(repr(figure).endswith("± 0 A") for _, figure in table.items())
        codes = [table.axes[0].codes[0], table.axes[0].codes[-1]]
        assert asked.compare({by[0]: codes[0]}, {by[0]: codes[1]}).noise_variance == 0.0
    assert asked.total().noise_variance == 0.0
    free = asked.table(*NAMES[:2]) if ("a", "b") not in controls else asked.table(["a", "b"], "c")
    assert min(figure.noise_variance for _, figure in free.items()) > 1.0


@pytest.mark.parametrize("kind", [Calibrated, Raked])
def test_what_nearly_exact_controls_leave_is_kept(kind):
    """Negative arm: a control with an error a ten-thousandth of that of its cells still has it."""
    asked = engine(kind, [("a", "b")], 1e-6)
    found = [figure.noise_variance for _, figure in asked.table("a", "b").items()]
    assert found == [pytest.approx(1e-6, rel=1e-3)] * 35
