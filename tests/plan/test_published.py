"""Published totals: read from a file and written into the plan, listed as an exposure, met as in R's survey."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.calibrate import LeastSquares, Rake
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import PlanError, PromiseError
from sfumato.release import Cube, Independent, Subject

SCHOOLS = Path(__file__).parents[4] / "shared" / "data" / "survey" / "apiclus1.csv"
# rake(dclus1, list(~stype, ~sch.wide), list(pop.types, pop.schwide)) in the survey package's own example.
TYPES = "stype,value\nE,4421\nH,755\nM,1018\n"
WIDE = "wide,value\nNo,1072\nYes,5122\n"
PLAN = """
name = "schools"
[data]
unit = "school"
[attributes.stype]
levels = ["E", "H", "M"]
[attributes.wide]
levels = ["No", "Yes"]
[hidden]
neighbours = "add-remove"
unit = "school"
[limit]
epsilon = "1000"
[[measure]]
name = "cube"
of = "count"
by = ["stype", "wide"]
with = { mechanism = "geometric", epsilon = "40" }
[[control]]
name = "types"
of = "cube"
by = ["stype"]
file = "types.csv"
[[control]]
name = "wides"
of = "cube"
by = ["wide"]
file = "wide.csv"
[[then]]
step = "rake"
name = "schools"
table = "cube"
to = ["types", "wides"]
[[exposure]]
kind = "published"
what = "the totals types and wides"
why = "the census of schools publishes them"
"""


def plan(folder, text=PLAN, types=TYPES, wide=WIDE):
    (folder / "types.csv").write_text(types)
    (folder / "wide.csv").write_text(wide)
    return sf.Plan.parse(text, folder / "plan.toml")


def rows(counts):
    cells = [(t, w) for (t, w), n in counts.items() for _ in range(n)]
    return pa.table({"stype": [t for t, _ in cells], "wide": [w for _, w in cells]})


COUNTS = {("E", "No"): 12, ("E", "Yes"): 132, ("H", "No"): 4, ("H", "Yes"): 10, ("M", "No"): 7, ("M", "Yes"): 18}


def fitted(cells):
    """Iterative proportional fitting to the totals of both files, as Deming and Stephan wrote it."""
    for _ in range(200):
        cells = cells * (np.array([4421, 755, 1018]) / cells.sum(axis=1))[:, None]
        cells = cells * (np.array([1072, 5122]) / cells.sum(axis=0))
    return cells


def test_a_sample_is_raked_to_population_totals_from_a_plan(tmp_path):
    read = plan(tmp_path)
    release = run(read, Microdata.open(rows(COUNTS), read.schema), None, tmp_path / "r", Options(rehearsal=1))
    made = release.products["schools"]
    cells = made.values * float(made.subject.step)
    np.testing.assert_allclose(cells.sum(axis=1), [4421, 755, 1018], atol=1e-5)
    np.testing.assert_allclose(cells.sum(axis=0), [1072, 5122], atol=1e-5)
    np.testing.assert_allclose(cells, fitted(release.products["cube"].values.astype(float)), atol=1e-4)
    assert [line.name for line in release.manifest.products if line.answers] == ["schools"]
    assert release.products["types"].values.tolist() == [4421, 755, 1018]
    assert sf.Plan.read(tmp_path / "r" / "plan.toml") == read


@pytest.mark.skipif(not SCHOOLS.exists(), reason="the survey package's data are not at hand")
def test_the_schools_of_the_survey_package_are_raked_to_its_totals(tmp_path):
    schools = pc.read_csv(SCHOOLS)
    data, read = pa.table({"stype": schools["stype"], "wide": schools["sch.wide"]}), plan(tmp_path)
    release = run(read, Microdata.open(data, read.schema), None, tmp_path / "r", Options(rehearsal=1))
    made = release.products["schools"]
    np.testing.assert_allclose((made.values * float(made.subject.step)).sum(axis=1), [4421, 755, 1018], atol=1e-5)


def test_its_errors_grow_with_the_factors_of_raking(tmp_path):
    text = PLAN.replace('to = ["types", "wides"]', 'to = ["types"]').replace('epsilon = "40"', 'epsilon = "1"')
    start = text.index('[[control]]\nname = "wides"')
    read = plan(tmp_path, text[:start] + text[text.index("[[then]]") :])
    many = {cell: 4 * count for cell, count in COUNTS.items()}
    source, shares, claims = Microdata.open(rows(many), read.schema), [], []
    for seed in range(1, 81):
        made = run(read, source, None, tmp_path / f"r{seed}", Options(rehearsal=seed)).products["schools"]
        step = float(made.subject.step)
        box = made.domain.box({"stype": "H", "wide": "No"})
        shares.append(made.total(box) * step)
        claims.append(made.covariance(box, box) * step**2)
    # Factors are 13 here, so a variance without them would be 180 times too small; 80 draws tell a factor of 3.
    assert 1 / 3 < np.var(shares) / np.mean(claims) < 3


def test_a_standard_error_makes_a_control_noisy_and_is_kept(tmp_path):
    noisy = "stype,value,standard_error\nE,4421,10\nH,755,\nM,1018.5,2.5\n"
    text = PLAN.replace('step = "rake"', 'step = "least-squares"').replace('epsilon = "40"', 'epsilon = "1"')
    read = plan(tmp_path, text, noisy)
    assert [float(one.standard_error) for one in read.controls[0].totals] == [10, 0, 2.5]
    assert sf.Plan.parse(read.to_toml(), tmp_path / "elsewhere" / "plan.toml") == read
    release = run(read, Microdata.open(rows(COUNTS), read.schema), None, tmp_path / "r", Options(rehearsal=1))
    made, step = release.products["schools"], float(release.products["schools"].subject.step)
    high = made.domain.box({"stype": "H"})
    assert made.total(high) * step == pytest.approx(755, abs=1e-4)
    assert made.covariance(high, high) * step**2 == pytest.approx(0, abs=1e-6)


def test_published_totals_are_listed_as_an_exposure_or_the_plan_is_not_priced(tmp_path):
    assert plan(tmp_path).price().spends[0].measure == "cube"
    assert len(plan(tmp_path).price().spends) == 1
    with pytest.raises(PromiseError, match='kind = "published"'):
        plan(tmp_path, PLAN.replace('kind = "published"', 'kind = "invariant"')).price()


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ("stype,value\nE,1\nH,2\n", r"types.csv lacks stype M; give a total"),
        ("stype,value\nE,1\nH,-2\nM,3\n", r"'types': H is below 0, as no count in 'cube' is"),
        ("stype,value\nE,1\nH,2\nM,3\nE,4\n", r"types.csv, line 5: stype E stands there twice"),
        ("stype,value\nE,1\nH,2\nK,3\n", r"line 4: 'K' is no level of stype"),
        ("stype,value\nE,1\nH,nan\nM,3\n", r"line 3: value is 'nan', no finite number"),
        ("stype,value\nE,1\nH,\nM,3\n", "line 3: value is '', no finite number"),
        ("type,value\nE,1\n", "line 2 has no column 'stype'"),
        ("stype,value,standard_error\nE,1,-1\n", "standard_error is 0 or more"),
    ],
)
def test_a_wrong_file_is_refused_by_line_before_anything_is_read(tmp_path, types, said):
    with pytest.raises(PlanError, match=said):
        plan(tmp_path, types=types)


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ('file = "types.csv"', 'file = "type.csv"', r"type.csv is not there; published totals are named from"),
        ('to = ["types", "wides"]', 'to = ["types", "wide"]', "reads 'wide', which .* did you mean 'wides'"),
        ('file = "types.csv"', 'file = "types.csv"\nfrom = "data"', "has one source"),
        ('of = "cube"\nby = ["stype"]', 'of = "cub"\nby = ["stype"]', "did you mean 'cube'"),
        ('to = ["types", "wides"]', 'to = ["types"]', "No step over tables meets the control 'wides'"),
    ],
)
def test_what_a_published_control_cannot_mean_is_refused(tmp_path, wrong, right, said):
    with pytest.raises(PlanError, match=said):
        plan(tmp_path, PLAN.replace(wrong, right, 1))


ALL = '[[control]]\nname = "all"\nof = "cube"\nby = []\nfile = "all.csv"\n'
ERRORS = "wide,value,standard_error\nNo,1072,30\nYes,5122,30\n"


@pytest.mark.parametrize("step", ["rake", "least-squares"])
def test_published_totals_that_contradict_each_other_are_refused_before_anything_is_read(tmp_path, step):
    text = PLAN.replace('step = "rake"', f'step = "{step}"')
    with pytest.raises(PlanError, match="'types' and 'wides' contradict each other in the total of all"):
        plan(tmp_path, text, wide="wide,value\nNo,1072\nYes,5123\n")
    assert plan(tmp_path, text).then[0].kind == step
    assert plan(tmp_path, text, wide=ERRORS.replace("5122", "5123")).then[0].kind == step, "noisy totals may disagree"


@pytest.mark.parametrize("step", ["rake", "least-squares"])
@pytest.mark.parametrize("chain", [False, True])
def test_exact_totals_contradict_beside_noisy_ones_and_along_a_chain(tmp_path, step, chain):
    text = PLAN.replace("[[then]]", ALL + "[[then]]").replace('step = "rake"', f'step = "{step}"')
    if chain:
        last = '[[then]]\nstep = "rake"\nname = "last"\ntable = "schools"\nto = ["all"]\n'
        text = text.replace("[[exposure]]", last + "[[exposure]]")
    else:
        text = text.replace('to = ["types", "wides"]', 'to = ["types", "wides", "all"]')
    (tmp_path / "all.csv").write_text("value\n6195\n")
    with pytest.raises(PlanError, match="'types' and 'all' contradict each other"):
        plan(tmp_path, text, wide=ERRORS)
    (tmp_path / "all.csv").write_text("value\n6194\n")
    assert len(plan(tmp_path, text, wide=ERRORS).controls) == 3


def test_a_step_refuses_exact_totals_that_no_table_has_though_others_are_noisy():
    """The plan tells it first; whoever calls a step is told as well."""
    whole = sf.Plan.parse(PLAN.split("[[control]]", maxsplit=1)[0], Path("x.toml")).schema.table(("stype", "wide"))
    of = Subject("x", "count", "X", "x", Fraction(1))
    products = {"cube": Cube(of, whole, np.full((3, 2), 50), Independent(2.0))}
    for name, by, values, variance in (("t", ["stype"], [100, 100, 100], 0), ("w", ["wide"], [140, 150], 9)):
        products[name] = Cube(of, whole.margin(by), np.array(values), Independent(float(variance)))
    products["all"] = Cube(of, whole.margin([]), np.array(301), Independent(0.0))
    for step in (Rake, LeastSquares):
        with pytest.raises(PlanError, match="contradict"):
            step("made", "cube", ("t", "w", "all")).apply(products)
        assert step("made", "cube", ("t", "w")).apply(products).subject.name == "made"


def chained(first, second):
    """Two steps: to a measured total first, then to the published ones."""
    measured = '[[measure]]\nname = "all"\nof = "count"\nby = []\nwith = { mechanism = "geometric", epsilon = "1" }\n'
    text = PLAN.replace("[[control]]", measured + "[[control]]", 1).replace('epsilon = "40"', 'epsilon = "1"')
    step = f'step = "{first}"\nname = "first"\ntable = "cube"\nto = ["all"]\n[[then]]\nstep = "{second}"\n'
    return text.replace('step = "rake"\n', step).replace(
        'table = "cube"\nto = ["types"', 'table = "first"\nto = ["types"'
    )


@pytest.mark.parametrize("first", ["least-squares", "rake"])
def test_what_a_step_made_is_raked_to_published_totals_with_an_error_that_is_read_again(tmp_path, first):
    read = plan(tmp_path, chained(first, "rake"))
    many = Microdata.open(rows({cell: 9 * count for cell, count in COUNTS.items()}), read.schema)
    made = run(read, many, None, tmp_path / "r", Options(rehearsal=1)).products["schools"]
    step, cell = float(made.subject.step), made.domain.box({"stype": "H", "wide": "No"})
    np.testing.assert_allclose((made.values * step).sum(axis=1), [4421, 755, 1018], atol=1e-4)
    stated = made.covariance(cell, cell) * step**2
    apart = run(plan(tmp_path), many, None, tmp_path / "apart", Options(rehearsal=1)).products["schools"]
    assert 0 < stated < 1e5
    assert stated > 2 * apart.covariance(cell, cell) * float(apart.subject.step) ** 2, "epsilon 1 is more noise than 40"
    high = made.domain.box({"stype": "H"})
    assert made.covariance(high, high) * step**2 == pytest.approx(0, abs=1e-4 * stated)


def test_least_squares_from_a_raked_table_to_published_totals_is_refused_with_the_reason(tmp_path):
    with pytest.raises(PlanError, match="the noise of the weights is in no error that could be stated"):
        plan(tmp_path, chained("rake", "least-squares"))
    assert plan(tmp_path, chained("least-squares", "least-squares")).answering == ("schools",)
