"""One question has one answer: however it is put and however a box is cut, sums agree to the last digit."""

import numpy as np
from worlds import TABLE, World, engine_of

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Geometric

ENGINE = engine_of(World.of(Geometric(1)).cube("jobs", SeededDraws(1)))


def test_a_thousand_random_splits_add_up_to_the_last_digit():
    """A total is what its parts add up to, as integers, however the box is cut and however the question is put."""
    rng = np.random.default_rng(5)
    for _ in range(1000):
        where = {name: _some(rng, name) for name in rng.permutation(TABLE.names)[: rng.integers(0, 4)]}
        name = str(rng.choice(TABLE.names))
        levels = TABLE.attribute(name).levels
        leaves = [leaf for leaf, kept in zip(levels.leaves, levels.mask(where.get(name, levels.leaves)), strict=True) if kept]  # fmt: skip  # noqa: E501
        cut = int(rng.integers(0, len(leaves) + 1))
        whole = ENGINE.total(where).value
        parts = [ENGINE.total({**where, name: half}).value for half in (leaves[:cut], leaves[cut:])]
        assert isinstance(whole, int)
        assert whole == sum(parts)
        turned = dict(reversed([*where.items()])) | {name: [*reversed(leaves), leaves[0]]}
        assert ENGINE.total(turned) == ENGINE.total(where)
        assert ENGINE.total({key: [TABLE.attribute(key).levels.label(one) for one in codes] for key, codes in where.items()}) == ENGINE.total(where)  # fmt: skip  # noqa: E501


def _some(rng, name: str) -> list[str]:
    codes = TABLE.attribute(name).levels.codes
    return rng.choice(codes, rng.integers(1, len(codes) + 1), replace=False).tolist()


def test_tables_totals_and_cells_agree():
    table = ENGINE.table("trade", "place", at={"trade": "all", "place": "leaves"})
    for codes, estimate in table.items():
        assert estimate == ENGINE.total(dict(zip(("trade", "place"), codes, strict=True)))
    assert sum(one.value for _, one in ENGINE.table("trade", at={"trade": "leaves"}).items()) == ENGINE.total().value
