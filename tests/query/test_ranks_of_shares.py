"""Shares are sorted and ranked by themselves, not by the numbers that they are shares of; their ranks hold."""

import numpy as np
import pytest
from worlds import engine_of, manifest_of, subject_of

from sfumato.query import QueryEngine
from sfumato.release import Cube, Independent, Withheld
from sfumato.schema import Attribute, Levels, Table

ROWS, LEVEL, DRAWS = 12, 0.90, 400
TRADES = Attribute("trade", Levels.of([f"t{place:02}" for place in range(ROWS)]), label="Trade")
LIFTING = Attribute("lifting", Levels.of(["much", "little"]), label="Lifting")
VARIANCE = 30.0**2
NOISE = Independent(VARIANCE)


def engine(values, variance=NOISE, **more) -> QueryEngine:
    cube = Cube(subject_of("jobs"), Table((TRADES, LIFTING)), np.asarray(values), variance)
    return engine_of(cube, manifest=manifest_of(cube, **more)) if more else engine_of(cube)


def world(chosen):
    """Trades of very different sizes, the share of much lifting rising by about 5 points from one to the next."""
    sizes = chosen.permutation(np.geomspace(1_000, 50_000, ROWS).astype(int))
    much = (sizes * (0.2 + 0.05 * np.arange(ROWS))).astype(int)
    return np.stack([much, sizes - much], axis=1)


def test_a_small_trade_with_a_large_share_stands_before_a_large_trade_with_a_small_one():
    values = np.array([[900, 100], [4_000, 6_000]] + [[100, 900]] * (ROWS - 2))
    table = engine(values).table("trade", "lifting")
    assert [one.code for one in table.sorted("much")][:2] == ["t01", "t00"]
    shares = table.shares("row")
    assert [one.code for one in shares.sorted("much")][:2] == ["t00", "t01"]
    assert [one.value for one in shares.sorted("much")][:2] == [0.9, 0.4]
    assert shares.ranks("much")["t00"] == (1, 1)
    assert [one.code for one in shares.sorted("much", rising=True)][-1] == "t00"


@pytest.mark.parametrize("of", ["column", "whole"])
def test_shares_of_one_whole_have_the_ranks_of_their_parts(of):
    table = engine(world(np.random.default_rng(3))).table("trade", "lifting")
    assert table.shares(of).ranks("much") == table.ranks("much")


def test_ranks_of_shares_hold_the_true_ranks_and_tell_something():
    """Each row's ranks hold its true one at 90% at least; 400 draws of 12 rows.

    A row that held at exactly 90% would fall below 84% with a chance of 1e-4 in 400 draws, and Bonferroni holds more
    often than that. Negative arm: ranks by the counts hold the true rank of the share almost never.
    """
    chosen = np.random.default_rng(11)
    truth = world(chosen)
    best = (-truth[:, 0] / truth.sum(axis=1)).argsort().argsort() + 1
    held, width, by_counts = np.zeros(ROWS), 0, np.zeros(ROWS)
    for _ in range(DRAWS):
        noisy = truth + np.rint(chosen.normal(0, VARIANCE**0.5, truth.shape)).astype(int)
        table = engine(noisy).table("trade", "lifting")
        ranks = np.array(list(table.shares("row").ranks("much", LEVEL).values()))
        counted = np.array(list(table.ranks("much", LEVEL).values()))
        held += (ranks[:, 0] <= best) & (best <= ranks[:, 1])
        by_counts += (counted[:, 0] <= best) & (best <= counted[:, 1])
        width += (ranks[:, 1] - ranks[:, 0]).mean() / DRAWS
    assert (held / DRAWS).min() > 0.84
    assert width < ROWS / 3
    assert (by_counts / DRAWS).min() < 0.1


def test_ranks_that_cannot_hold_are_not_stated():
    rows = world(np.random.default_rng(5))
    withheld = engine(rows, Withheld("it would leak")).table("trade", "lifting").shares("row")
    assert {one.ranks for one in withheld.sorted("much")} == {None}
    unsampled = engine(rows, sampling={"kind": "withheld", "reason": "the design is not public"})
    assert {one.ranks for one in unsampled.table("trade", "lifting").shares("row").sorted("much")} == {None}


def test_a_row_without_a_number_may_have_any_rank_and_widens_those_of_others_by_one():
    rows = world(np.random.default_rng(5))
    table = engine(rows).table("trade", "lifting")
    first = table.shares("row").ranks("much")
    rows[4] = [1, 1]
    missing = engine(rows).table("trade", "lifting").shares("row")
    assert missing.sorted("much")[-1].code == "t04"
    ranks = missing.ranks("much")
    assert ranks["t04"] == (1, ROWS)
    assert ranks["t11"] == (first["t11"][0], first["t11"][1] + 1)
