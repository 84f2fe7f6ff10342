"""MOSE: chi, local sensitivities and scales as the published method gives them, and nothing claimed for any of it."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.reproduce import reproduce
from sfumato.confidential import Microdata, Options, run
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import DataError, PlanError, PromiseError
from sfumato.kernels.simple_regression import Moments
from sfumato.mechanisms.mose import Mose
from sfumato.mechanisms.mose_as_published import MoseAsPublished
from sfumato.privacy import Unbounded
from sfumato.schema import Rows
from sfumato.statistics.fitted import Fitted
from sfumato.studies.mose import Atlas, anywhere, lines, moved_chi, picture
from sfumato.studies.mose_example import largest, points_of
from sfumato.studies.mose_example import lines as authors_lines

SHARED = Path(__file__).parents[2] / "../shared/data/mose/private_data_by_cells.dta"
PLAN = """
name = "ranks"
[data]
unit = "child"
[attributes.cell]
levels = [{levels}]
[hidden]
neighbours = "add-remove"
unit = "child"
[limit]
unbounded = "chi is a maximum over the data"
[[measure]]
name = "children"
of = "count"
by = ["cell"]
with = {{ mechanism = "geometric", epsilon = "1" }}
[[measure]]
name = "p25"
of = {{ statistic = "fitted", y = "kid_rank", x = "parent_rank", at = "0.25" }}
by = ["cell"]
with = {{ mechanism = "mose", epsilon = "4", least = "{least}" }}
given = ["children"]
[[exposure]]
kind = "published"
what = "chi"
why = "a test"
"""


def plan(levels, least="1", old="", new=""):
    text = PLAN.format(levels=", ".join(f'"{one}"' for one in levels), least=least)
    assert old in text
    return sf.Plan.parse(text.replace(old, new), Path("ranks.toml"))


def fitted_line(x, y):
    """Base and slope by a general least-squares solver, of a column of ones and x."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]


def predicted(x, y):
    base, slope = fitted_line(x, y)
    return base + 0.25 * slope


def sloped(x, y):
    return fitted_line(x, y)[1]


def by_hand(x, y, statistic=predicted):
    """LS by corners added and points removed, each fitted anew."""
    true = statistic(x, y)
    added = [statistic(np.append(x, a), np.append(y, b)) for a in (0, 1) for b in (0, 1)]
    gone = [statistic(np.delete(x, at), np.delete(y, at)) for at in range(len(x))]
    return true, max(abs(one - true) for one in added), max(abs(one - true) for one in gone)


def example():
    """The example data of the authors, where they are at hand: 10,000 simulated children in 111 cells."""
    if not SHARED.exists():
        pytest.skip("the example data of Chetty and Friedman are not at ../shared/data/mose")
    return pytest.importorskip("pandas").read_stata(SHARED).astype(float)


def test_chi_and_scales_of_the_authors_example_are_those_of_the_published_method(tmp_path):
    """Chi from what is published, against lines fitted one by one; values are read in millionths of a rank."""
    frame = example()
    cells = {
        int(one): (group["parent_rank"].to_numpy(), group["kid_rank"].to_numpy())
        for one, group in frame.groupby("cell")
    }
    known = {one: (len(x), *by_hand(x, y)) for one, (x, y) in cells.items()}
    chi = max(count * max(added, gone) for count, _, added, gone in known.values())
    assert chi == pytest.approx(2.97023, abs=1e-4), "of corners that are added; those removed reach 1.164"
    assert max(count * gone for count, _, _, gone in known.values()) == pytest.approx(1.16374, abs=1e-4)
    made = plan(sorted(cells))
    rows = pa.table(
        {
            "cell": [str(int(one)) for one in frame["cell"]],
            "kid_rank": frame["kid_rank"].to_numpy(),
            "parent_rank": frame["parent_rank"].to_numpy(),
        }
    )
    run(made, Microdata.open(rows, made.schema), None, tmp_path / "release", Options(rehearsal=1))
    held = sf.open(tmp_path / "release").release.products
    noisy, told = held["children"].values, held["p25"]
    shown = told.which == 0
    scale = np.sqrt((told.uncertainty.variances - 1 / 12) / 2) * 1e-6
    lowest = np.maximum(noisy - 2 * np.sqrt(held["children"].even), 1)
    assert (scale * 4 * lowest)[shown] == pytest.approx(chi, rel=1e-4)
    off = told.values * 1e-6 - np.array([known[one][1] for one in sorted(cells)])
    assert np.abs(off / scale)[shown].mean() == pytest.approx(1, abs=0.45), "Laplace's law has a mean size of its scale"


def steep_cells(rng):
    """Forty cells whose last child stands far to the right of all others, so that the line hangs on it."""
    x = np.concatenate([[*rng.uniform(0.0, 0.1, 7), 0.6] for _ in range(40)])
    return rng.random(len(x)).round(6), x.round(6), np.arange(41) * 8


def test_as_published_chi_adds_points_at_the_corners_and_removes_none():
    """Lines fitted one by one; in these cells removing the far child moves a line further than any corner."""
    y, x, offsets = steep_cells(np.random.default_rng(6))
    cells = points_of("slope", y, x, offsets)
    parts = [slice(*ends) for ends in pairwise(offsets)]
    own = [by_hand(x[part], y[part], sloped) for part in parts]
    added, gone = (8 * max(line[place] for line in own) for place in (1, 2))
    assert gone > 1.5 * added
    assert largest(MoseAsPublished(4), cells) == pytest.approx(added, rel=1e-4)
    assert largest(Mose(4), cells) == pytest.approx(gone, rel=1e-4)


def test_chi_as_published_stands_in_the_errors_of_a_slope():
    """The stated variance is 2 (chi / (epsilon N))² with the chi of the corners; with removed points it is larger."""
    y, x, offsets = steep_cells(np.random.default_rng(6))
    atlas, cells = Atlas(y, x, offsets), points_of("slope", y, x, offsets)
    chi = largest(MoseAsPublished(4), cells)
    ratios = []
    for mechanism in (MoseAsPublished(4, least=1), Mose(4, least=1)):
        noisy = mechanism.perturb(cells, SeededDraws(1), {"children": atlas.counted("1000", 1)})
        deviation = np.sqrt((noisy.public["variance"].ravel() - 1 / 12) / 2) * float(noisy.step)
        ratios.append(deviation * 4 * 8 / chi)
    assert ratios[0] == pytest.approx(1, rel=1e-4)
    assert ratios[1].min() > 1.5


def test_the_authors_example_has_their_chi_for_both_statistics():
    """Their do-files step by step: one child more at each corner, N times the largest move, the largest of cells."""
    frame = example()
    groups = [(group["parent_rank"].to_numpy(), group["kid_rank"].to_numpy()) for _, group in frame.groupby("cell")]
    told = {line.what: line for line in authors_lines(SHARED)}
    for name, statistic, printed in (("line at 0.25", predicted, "2.9702"), ("slope", sloped, "7.5008")):
        chi = max(len(x) * by_hand(x, y, statistic)[1] for x, y in groups)
        assert told[f"the authors' example: chi of the {name}"].ours == f"{chi:.4f}" == printed
        noise = np.mean([np.sqrt(2) * chi / (4 * len(x)) for x, _ in groups])
        assert told[f"the authors' example: mean standard deviation of noise, {name}"].ours == f"{noise:.4f}"
    assert told["the same, points removed as well: slope"].ours == "8.2271"
    assert told["the authors' example: children"].published == told["the authors' example: children"].ours


def test_a_file_that_is_not_the_authors_is_refused_in_words(tmp_path):
    (tmp_path / "other.dta").write_text("no Stata file", encoding="utf-8")
    with pytest.raises(DataError, match=r"other.dta is not a readable Stata file"):
        authors_lines(tmp_path / "other.dta")
    pytest.importorskip("pyreadstat").write_dta(
        pytest.importorskip("pandas").DataFrame({"cell": [1.0]}), str(tmp_path / "short.dta")
    )
    with pytest.raises(DataError, match=r"no column kid_rank, parent_rank; give private_data_by_cells.dta"):
        authors_lines(tmp_path / "short.dta")
    with pytest.raises(PlanError, match="takes no --example; mose does"):
        reproduce("qcew-power", example=SHARED)


def test_moments_with_a_point_more_or_less_are_those_of_the_points_themselves():
    rng = np.random.default_rng(4)
    y, x = rng.random((2, 9))
    whole = Moments.of(y, x, np.array([0, 9]))
    more = Moments.of(np.append(y, 1.0), np.append(x, 0.0), np.array([0, 10]))
    less = Moments.of(y[1:], x[1:], np.array([0, 8]))
    for one, other in ((whole.with_point(0.0, 1.0), more), (whole.with_point(x[0], y[0], -1), less)):
        for name in ("count", "x", "y", "xx", "xy", "yy"):
            assert getattr(one, name) == pytest.approx(getattr(other, name))
    assert whole.at(0.25)[0] == pytest.approx(predicted(x, y))
    slope, base = np.polyfit(x, y, 1)
    left = ((y - base - slope * x) ** 2).sum() / 7
    expected = np.sqrt(left * (1 / 9 + (0.25 - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()))
    assert whole.error_at(0.25)[0] == pytest.approx(expected)


def test_local_sensitivities_of_synthetic_children_are_those_of_lines_fitted_anew():
    atlas = Atlas.drawn(3000)
    found = atlas.lines.local_sensitivity
    for cell in np.flatnonzero(atlas.counts >= 5)[:25]:
        own = slice(*atlas.offsets[cell : cell + 2])
        _, added, gone = by_hand(atlas.x[own], atlas.y[own])
        assert found[cell] == pytest.approx(max(added, gone), rel=1e-3)


@pytest.mark.parametrize("noise", ["laplace", "normal"])
def test_noise_has_the_stated_variance(noise):
    """20,000 cells: 2.5% of error at 1e-6 for Laplace's law; a fifth more or less is rejected."""
    rng, cells = np.random.default_rng(2), 20_000
    atlas = Atlas(rng.random(30 * cells), rng.random(30 * cells), np.arange(cells + 1) * 30)
    counts = atlas.counted("8", 1)
    noisy = atlas.published(Mose(8, noise=noise), counts, 5)
    true = atlas.lines.value(atlas.lines.moments) / float(noisy.step)
    ratio = ((noisy.values - true) ** 2 / noisy.public["variance"]).mean()
    assert 0.9 < ratio < 1.1
    fourth = ((noisy.values - true) ** 4 / noisy.public["variance"] ** 2).mean()
    assert (fourth > 4.5) == (noise == "laplace"), "6 of Laplace's law, 3 of the normal"


def test_next_to_no_noise_leaves_the_nearest_step_of_the_line():
    """At an epsilon of 10⁹ noise is thousandths of a step, so that all are half a step off at most, either way."""
    rng = np.random.default_rng(3)
    atlas = Atlas(rng.random(30 * 200), rng.random(30 * 200), np.arange(201) * 30)
    noisy = atlas.published(Mose(10**9), atlas.counted("8", 1), 5)
    off = noisy.values - atlas.lines.value(atlas.lines.moments) / float(noisy.step)
    assert np.abs(off).max() < 0.52
    assert off.max() > 0.4
    assert off.min() < -0.4


def test_as_published_the_scale_has_the_exact_counts_and_1_where_nobody_is():
    counts = MoseAsPublished(8).scale_counts(np.array([0.0, 1.0, 2.0, 30.0]), None)
    assert counts.tolist() == [1, 1, 2, 30]


def test_chi_is_the_largest_of_its_group_and_of_no_cell_that_is_not_shown(tmp_path):
    """Two states: the small cell of the first has no number, and its line, the steepest, no part in chi."""
    levels = '"a", "b", {code = "a1", parent = "a"}, {code = "a2", parent = "a"}, {code = "b1", parent = "b"}'
    text = PLAN.replace("[{levels}]", f"[{levels}]").replace("{{", "{").replace("}}", "}").replace("{least}", "20")
    made = sf.Plan.parse(text.replace('least = "20"', 'least = "20", chi_by = ["cell@0"]'), Path("ranks.toml"))
    rng = np.random.default_rng(3)
    where = ["a1"] * 60 + ["a2"] * 4 + ["b1"] * 50
    rows = {"cell": where, "parent_rank": rng.random(114).round(6), "kid_rank": rng.random(114).round(6)}
    run(made, Microdata.open(pa.table(rows), made.schema), None, tmp_path / "release", Options(rehearsal=2))
    opened = sf.open(tmp_path / "release")
    told, people = opened.release.products["p25"], opened.release.products["children"]
    assert told.which.tolist() == [0, 1, 0]
    place = np.array(where)
    for at, code in ((0, "a1"), (2, "b1")):
        x, y = (rows[name][place == code] for name in ("parent_rank", "kid_rank"))
        _, added, gone = by_hand(x, y)
        chi = len(x) * max(added, gone)
        lowest = people.values[at] - 2 * np.sqrt(people.even)
        assert np.sqrt((told.uncertainty.variances[at] - 1 / 12) / 2) * 1e-6 == pytest.approx(
            chi / (4 * lowest), rel=1e-3
        )
    manifest = opened.release.manifest
    assert not manifest.promise.formal
    assert "given chi the loss is epsilon 4" in told.subject.note
    assert "the corners understate" in told.subject.note
    assert "chi is " in told.subject.note
    assert any("Not formally private" in one for one in manifest.caveats)


def test_nothing_is_claimed_and_that_is_said_before_any_data():
    assert isinstance(Mose(8).loss(None), Unbounded)
    with pytest.raises(PromiseError, match="no guarantee"):
        plan("ab", old='unbounded = "chi is a maximum over the data"', new='epsilon = "9"').price()
    with pytest.raises(PromiseError, match="leaves 'chi' outside the guarantee"):
        plan("ab", old='what = "chi"', new='what = "nothing"').price()
    with pytest.raises(PromiseError, match="no claim to audit"):
        audit_plan(plan("ab"), samples=1000, draws=SeededDraws(1))
    with pytest.raises(PlanError, match="noisy count of its cells"):
        plan("ab", old='given = ["children"]', new="")
    with pytest.raises(PlanError, match="does not count its own cells"):
        plan(
            "ab", old='by = ["cell"]\nwith = { mechanism = "geometric"', new='by = []\nwith = { mechanism = "geometric"'
        )
    with pytest.raises(PlanError, match="chi is by 'state', which the table is not by"):
        plan("ab", old='least = "1"', new='least = "1", chi_by = ["state"]')
    with pytest.raises(PlanError, match='statistic = "fitted"'):
        Mose(8).needs((Rows(),))
    with pytest.raises(PlanError, match="tells no 'slop'"):
        Fitted("y", "x", what="slop")
    with pytest.raises(PlanError, match="'laplace' or 'normal'"):
        Mose(8, noise="cauchy")


def test_a_point_inside_the_bounds_moves_some_lines_further_than_a_corner_and_one_child_moves_chi():
    atlas = Atlas.drawn(40_000)
    shown = atlas.counts >= 20
    wider = anywhere(atlas)[shown] / atlas.lines.local_sensitivity[shown]
    assert 1.005 < wider.max() < 1.3
    chi = (atlas.lines.local_sensitivity * atlas.counts)[shown].max()
    low, high = moved_chi(atlas, shown)
    assert low < chi < high


def test_the_study_tells_both_attacks_and_draws_the_envelope():
    told = {line.what: line.ours for line in lines(1, 20_000)}
    assert told["mose-as-published, epsilon 1: lines read off to five digits"] == "100%"
    assert told["mose, epsilon 1: lines read off to five digits"] in {"0%", "1%"}
    assert "chi is" in picture(1, 20_000).told[0]


def test_means_have_the_sensitivity_of_a_mean(tmp_path):
    """A value more at an end moves it by |end − mean| / (N + 1), one that goes by |value − mean| / (N − 1)."""
    text = PLAN.format(levels='"a"', least="1").replace(
        '{ statistic = "fitted", y = "kid_rank", x = "parent_rank", at = "0.25" }',
        '{ statistic = "mean", column = "pay", clip = ["0", "1000"] }',
    )
    made = sf.Plan.parse(text, Path("means.toml"))
    pay = np.array([100, 200, 250, 400, 900, 1000, 30])
    rows = pa.table({"cell": ["a"] * 7, "pay": pay})
    run(made, Microdata.open(rows, made.schema), None, tmp_path / "release", Options(rehearsal=2))
    held = sf.open(tmp_path / "release").release.products
    middle = pay.mean()
    local = max(*(abs(end - middle) / 8 for end in (0, 1000)), np.abs(pay - middle).max() / 6)
    lowest = max(held["children"].values[0] - 2 * np.sqrt(held["children"].even), 1)
    scale = np.sqrt((held["p25"].uncertainty.variances[0] - 1 / 12) / 2)
    assert scale == pytest.approx(7 * local / (4 * lowest), rel=1e-6)
