"""A "published" column holds only what is printed in the source: every figure in it stands in the paper's own text."""

import re
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.studies import STUDIES, Line, iab_full, ors, ors_populations, suppression

SEEDS = Path(__file__).parents[2] / "../shared/seeds"
ORS, QCEW, GEODATA = "000_", "001_", "002_"
STUDY_LINES = {
    "iab-small": (GEODATA, partial(STUDIES["iab-small"].lines, 20)),
    "iab-full": (GEODATA, partial(iab_full.lines, 2)),
    "ors-table-2": (ORS, partial(STUDIES["ors-table-2"].lines, 1)),
    "ors-table-3": (ORS, partial(STUDIES["ors-table-3"].lines, 2)),
    "ors-table-4": (ORS, lambda: ors_populations.population_lines("moderate", ors.simulate(10))),
    "qcew-intervals": (QCEW, partial(STUDIES["qcew-intervals"].lines, 1)),
    "qcew-power": (QCEW, partial(STUDIES["qcew-power"].lines, 1)),
    "qcew-split": (QCEW, partial(STUDIES["qcew-split"].lines, 1)),
    "qcew-total": (QCEW, partial(STUDIES["qcew-total"].lines, 1)),
    "qcew-example": (QCEW, partial(STUDIES["qcew-example"].lines, 1)),
    "qcew-warner": (QCEW, partial(STUDIES["qcew-warner"].lines, 2)),
    "suppression-slides": (QCEW, lambda: [*suppression.slides(), *suppression.census(2_000)]),
}
WITHOUT_FIGURES = {
    "iab-map", "ors-interactive", "mose", "private-lines", "mose-against-suppression", "qcew-utility", "qcew-curves",
    "qcew-fuller", "lodes-figure-3", "lodes-figure-4", "lodes-figure-5", "lodes-margins", "lodes-loss-curves",
}  # fmt: skip
NOT_AT_HAND = {"margins-planner"}
"""Its paper is not among the texts here; the study names the tables."""


def printed_text(seed):
    if not SEEDS.exists():
        pytest.skip("the texts of the papers are not at ../shared/seeds")
    return plain(next(SEEDS.glob(f"{seed}*")).read_text(encoding="utf-8"))


def plain(text):
    """A text without the marks of its formulas, separators of thousands and spaces."""
    text = text.replace("\\neq", "≠").replace("^*", "*").replace("$", "").replace("**", "")
    return re.sub(r"\s+", " ", re.sub(r"(?<=\d),(?=\d{3})", "", text))


def figures(published):
    """What is looked for in a paper: the numbers of a published text, or the text where it has none."""
    if published == "224 of 1,000":
        return ["Among the 1000 runs, 224 of them converged"]
    numbers = re.findall(r"\d[\d.]*", plain(published))
    return [plain(published)] if re.search(r"[a-z(]{2}", published) and "noisy" not in published else numbers


@pytest.mark.parametrize("name", STUDY_LINES)
def test_every_published_figure_is_printed_in_its_source(name):
    seed, lines = STUDY_LINES[name]
    text = printed_text(seed)
    for line in lines():
        assert not (line.published and line.derived), line
        for figure in figures(line.published) if line.published else []:
            pattern = rf"(?<![\d.]){re.escape(figure)}(?![\d])" if figure[0].isdigit() else re.escape(figure)
            assert re.search(pattern, text), f"{line.what}: {line.published} is not printed in seed {seed}"


def test_what_is_not_printed_would_be_found():
    text = printed_text(QCEW)
    for invented in ("both possible", "M(D*) = D*", "over 60% of all cells"):
        assert all(figure not in text for figure in figures(invented))
    assert "22.4%" not in printed_text(ORS)


def test_every_study_with_a_published_column_is_looked_at():
    column = {name for name, study in STUDIES.items() if study.heads[0] == "published"}
    assert column == set(STUDY_LINES) | WITHOUT_FIGURES | NOT_AT_HAND


def test_studies_of_figures_without_numbers_publish_none():
    for name, given in (("lodes-figure-3", (2, 2_000, lambda _: None)), ("mose", (1, 4_000)), ("qcew-fuller", (1,))):
        lines = STUDIES[name].lines(*given)
        assert not any(line.published for line in lines)
        slopes = [line for line in lines if line.what.startswith("slope of log ratio")]
        assert all(line.derived == "-1" and line.beside == "-1 (derived)" for line in slopes)
        assert bool(slopes) == (name == "lodes-figure-3")


def test_derived_figures_are_marked_in_the_terminal_and_in_json():
    said = CliRunner().invoke(app, ["reproduce", "qcew-warner", "--runs", "2"]).output
    assert said.count("(derived)") == 3
    said = CliRunner().invoke(app, ["reproduce", "qcew-warner", "--runs", "2", "--json"]).output
    assert '"derived": "0.0245"' in said, "sqrt(0.6 · 0.4 / (0.2² · 10,000))"
    assert '"published": ""' in said


def test_a_place_other_than_the_source_is_named():
    assert Line("a", "1", "1", "sure", place="section 3").remarks == "sure; printed in section 3"
