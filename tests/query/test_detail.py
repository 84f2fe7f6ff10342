"""One number in detail, rows in order, and the same question over periods."""

import math

import numpy as np
import pytest
from worlds import TABLE, World, engine_of, manifest_of, subject_of

from sfumato.draws import SeededDraws
from sfumato.errors import QueryError
from sfumato.mechanisms import Geometric
from sfumato.query import Group, QueryEngine, open_folder, over_periods
from sfumato.query.detail import detail_of
from sfumato.query.estimate import IMPOSSIBLE, Estimate
from sfumato.query.wording import words
from sfumato.release import Cube, Independent, Release, Withheld

VALUES = np.arange(np.prod(TABLE.shape)).reshape(TABLE.shape) * TABLE.possible - 3
SAMPLED = {"kind": "variance-function", "functions": {"jobs": {"a": 0.0, "b": 2.0}}}


def engine(*, variance=2.0, sampling=None, **subject) -> QueryEngine:
    error = variance if isinstance(variance, Withheld) else Independent(variance)
    cube = Cube(subject_of("jobs", mechanism="geometric", **subject), TABLE, VALUES, error)
    return engine_of(cube, manifest=manifest_of(cube, sampling=sampling))


def keys(detail) -> list[str]:
    assert all("{" not in one.english() for one in detail.sentences)
    return [one.key for one in detail.sentences]


def test_a_detail_tells_noise_and_sampling_apart():
    detail = engine(sampling=SAMPLED).table("age", "sex").detail(("old", "f"))
    noise, sampled = 2.0 * 240, 2.0 * detail.estimate.value
    told = detail.estimate
    assert (detail.labels, told.cells) == (("old", "f"), 240)
    assert (told.noise_se, told.sampling_se) == (pytest.approx(math.sqrt(noise)), pytest.approx(math.sqrt(sampled)))
    assert told.noise_share == pytest.approx(noise / (noise + sampled))
    half = 1.959964 * math.sqrt(noise + sampled)
    assert told.interval(0.95) == pytest.approx((told.value - half, told.value + half))
    assert keys(detail) == ["error_both", "add", "protected"]


def test_a_small_number_under_noise_that_is_mostly_0_may_be_noise_alone_and_says_so():
    """20 x 12 x 4 x 3 cells less 180 impossible ones; noise of variance 0.002 moves about 5.4 of them."""
    leaves = dict.fromkeys(TABLE.names, "leaves")
    rare = engine(variance=0.002).table(list(TABLE.names), at=leaves)
    assert VALUES[5, 0, 0, 0] > 3
    assert keys(rare.detail(("trade1-0", "place0-0", "young", "f"))) == ["error_noise", "add", "protected_one"]
    small = rare.detail(("trade0-0", "place0-0", "young", "f"))  # it is -3
    assert keys(small) == ["error_noise", "impossible_interval", "maybe_noise", "add", "protected_one"]
    assert "moved about 5 of the 2,700 cells" in repr(small)
    wide = engine(variance=2.0).table(list(TABLE.names), at=leaves)
    assert "maybe_noise" not in keys(wide.detail(("trade0-0", "place0-0", "young", "f")))


def test_a_detail_says_what_a_reader_would_ask():
    leaves = dict.fromkeys(TABLE.names, "leaves")
    single = engine().table(list(TABLE.names), at=leaves).detail(("trade1-0", "place0-0", "young", "f"))
    assert keys(single) == ["error_noise", "add", "protected_one"]
    ruled = engine().table(list(TABLE.names), at=leaves).detail(("trade0-0", "place0-0", "retired", "f"))
    assert ruled.estimate == IMPOSSIBLE
    assert keys(ruled) == ["impossible"]
    hidden = engine(variance=Withheld("it would leak")).table("age").detail("old")
    assert (hidden.estimate.se, hidden.estimate.noise_share) == (Withheld("it would leak"), None)
    assert keys(hidden) == ["error_withheld", "add", "protected"]
    assert "it would leak" in repr(hidden)
    groups = [Group("One", ("trade0", "trade1")), Group("Two", ("trade1",))]
    assert "add_overlap" in keys(engine().table("trade", at={"trade": groups}).detail("One"))
    held = {"place": "place0-0", "age": "old", "sex": "f"}
    alone = engine(additive=False).table("trade", where=held, at={"trade": "leaves"}).detail("trade1-0")
    assert "add_never" in keys(alone)
    assert keys(engine(variance=0.0).table("age").detail("old"))[0] == "error_none"


def test_a_comparison_gives_its_facts_for_any_language():
    table = engine().table("trade")
    apart, same = table.compare("trade0", "trade3"), table.compare("trade0", "trade0")
    assert apart.sentence().key == "differ"
    low, high = apart.sentence().values["low"], apart.sentence().values["high"]
    assert (low + high) / 2 == pytest.approx(apart.value)
    assert high - low == pytest.approx(2 * apart.moe(0.90))
    assert same.sentence().key == "may_be_same"
    assert (same.p_value, same.differs()) == (1.0, False)
    assert engine(variance=Withheld("no")).table("trade").compare("trade0", "trade1").sentence().key == "differ_unsaid"
    assert {"differ", "may_be_same", "differ_unsaid"} <= set(words("en").listed("sentence"))


def test_rows_are_sorted_by_value_then_code_with_the_ranks_they_may_have():
    values = np.zeros(TABLE.shape, dtype=np.int64)
    values[:, 0, 0, 0] = np.repeat([5, 900, 5, 40], 5)
    made = engine_of(Cube(subject_of("jobs"), TABLE, values, Independent(0.1)))
    table = made.table("trade", "sex")
    falling, rising = table.sorted("f"), table.sorted("f", rising=True)
    assert [one.code for one in falling] == ["trade1", "trade3", "trade0", "trade2"]
    assert [one.code for one in rising] == ["trade0", "trade2", "trade3", "trade1"]
    assert [one.place for one in falling] == [1, 3, 0, 2]
    assert [one.ranks for one in falling] == [(1, 1), (2, 2), (3, 4), (3, 4)]
    assert {one.code: one.ranks for one in falling} == table.ranks("f")
    hidden = engine(variance=Withheld("it would leak")).table("trade").sorted()
    assert [one.ranks for one in hidden] == [None] * 4
    with pytest.raises(QueryError, match="name the column"):
        table.sorted()


@pytest.mark.parametrize("sampling", [None, SAMPLED], ids=["census", "sample"])
@pytest.mark.parametrize("shown", ["@0", "all", "groups"])
def test_ranks_compare_pairs_by_the_error_of_their_difference(sampling, shown):
    """The error of each pair is asked for as a reader would; levels and groups that overlap share noise and sample."""
    made = engine(variance=4.0e4, sampling=sampling)
    groups = ["trade1", Group("One", ("trade0", "trade1")), Group("Two", ("trade1", "trade2-0")), "trade3"]
    table = made.table("trade", at={"trade": groups if shown == "groups" else shown})
    codes, ranks = table.axes[0].codes, table.ranks()
    reach = max(
        math.sqrt(2) * _inverse_error(1 - 0.1 / (len(codes) - 1)), math.log((len(codes) - 1) / 0.1) / math.sqrt(2)
    )
    for one in codes:
        pairs = [table.compare(other, one) for other in codes if other != one]
        above = sum(pair.value > reach * pair.se + 0.5 for pair in pairs)
        below = sum(-pair.value > reach * pair.se + 0.5 for pair in pairs)
        assert ranks[one] == (1 + above, len(codes) - below)


def _inverse_error(share: float) -> float:
    from scipy.special import erfinv

    return float(erfinv(share))


def test_too_many_rows_to_compare_are_refused(monkeypatch):
    monkeypatch.setattr("sfumato.query.crosstab.MOST_ROWS", 3)
    with pytest.raises(QueryError, match="at most 3 rows"):
        engine().table("trade").ranks()


def test_the_same_question_is_asked_over_periods_in_their_order():
    world, engines = World.of(Geometric(1)), []
    for period in ("2025-Q2", "2025-Q1", "2025-Q3"):
        cube = world.cube("jobs", SeededDraws(len(engines)))
        manifest = manifest_of(cube).model_copy(update={"period": period})
        engines.append(QueryEngine(Release(manifest, "0" * 64, {"jobs": cube})))
    found = over_periods(engines, {"age": "old"})
    assert [one.period for one in found] == ["2025-Q1", "2025-Q2", "2025-Q3"]
    assert found[0].estimate == engines[1].total({"age": "old"})
    missing = over_periods(engines, {"age": "ancient"})
    assert {one.estimate for one in missing} == {None}
    assert "'ancient' is not a level" in missing[0].reason
    with pytest.raises(QueryError, match="Two of the releases"):
        over_periods([engines[0], engines[0]])


def test_an_interval_of_impossible_counts_says_so(make_release):
    """A count of -3.1 ± 1.8 has no possible number in its interval, so nothing may say that 0 is in it."""
    source = open_folder(make_release()).source("jobs")

    def said(value, variance):
        found = detail_of(source, Estimate(value, variance, unit="jobs"), ("x",), overlaps=False)
        return " ".join(one.english() for one in found.sentences)

    assert "No true number lies from -5.0 to -1.2:" in said(-3.1, 1.2).replace("−", "-")
    assert "small number" not in said(-3.1, 1.2)
    assert "No true number" not in said(-1, 1.2)
    assert "small number" in said(-1, 1.2)
