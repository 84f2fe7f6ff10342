"""Errors that may not be stated, and the two kinds of error that may: what is said, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from worlds import TABLE, engine_of, manifest_of, subject_of

from sfumato.errors import QueryError
from sfumato.mechanisms import LogLaplace, SmoothGamma
from sfumato.mechanisms.exponential_quantile import WHY as OF_QUANTILES
from sfumato.mechanisms.theil_sen import WHY as OF_LINES
from sfumato.privacy import Relative
from sfumato.query.answer import Answer
from sfumato.query.downloads.jsonstat import dataset
from sfumato.query.estimate import Estimate
from sfumato.query.plot import plot_of
from sfumato.query.portable import Portable
from sfumato.query.untold import untold
from sfumato.release import Cube, Independent, Withheld

WHY = "the scale is the largest employer of the cell"


def withheld_engine(*, noise: bool):
    error = Withheld(WHY) if noise else Independent(2.0)
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), error)
    sampling = None if noise else {"kind": "withheld", "reason": WHY}
    return engine_of(cube, manifest=manifest_of(cube, sampling=sampling))


def test_a_withheld_noise_error_is_carried_through_and_printed():
    engine = withheld_engine(noise=True)
    share, table = engine.share({"sex": "f"}), engine.table("age", "sex")
    difference = engine.compare({"sex": "f"}, {"sex": "m"})
    for estimate in (engine.total(), share, difference, engine.ratio({"sex": "f"}, {"sex": "m"}), table["old", "f"]):
        assert estimate.se == estimate.moe() == estimate.cv == estimate.variance == Withheld(WHY)
        assert (estimate.grade, repr(estimate).endswith("± withheld -")) == ("-", True)
        with pytest.raises(QueryError, match=WHY):
            estimate.interval()
    assert difference.p_value == difference.differs() == Withheld(WHY)
    assert WHY in difference.words()
    assert repr(table).count("± withheld") == table._repr_html_().count("± withheld") == 12
    with pytest.raises(QueryError, match=WHY):
        table.ranks("f")
    assert {record["moe90"] for record in table.records()} == {None}
    assert share.value == pytest.approx(1 / 3)


def test_where_no_sampling_error_is_stated_margins_count_the_noise_and_say_so():
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Independent(2.0))
    engine, counted = withheld_engine(noise=False), engine_of(cube)
    table, beside = engine.table("age", "sex"), counted.table("age", "sex")
    pairs = [
        (engine.total(), counted.total()),
        (engine.share({"sex": "f"}), counted.share({"sex": "f"})),
        (engine.ratio({"sex": "f"}, {"sex": "m"}), counted.ratio({"sex": "f"}, {"sex": "m"})),
        (table["old", "f"], beside["old", "f"]),
    ]
    for estimate, alone in pairs:
        assert estimate.se == estimate.cv == estimate.variance == Withheld(WHY)
        assert estimate.moe() == alone.moe() > 0
        assert estimate.interval() == alone.interval()
        assert (estimate.interval().counts, alone.interval().counts) == ("noise alone", "noise")
        assert repr(estimate).endswith("(noise alone) -")
    assert {record["moe90"] for record in table.records()} == {one.moe() for _, one in beside.items()}
    for text in (repr(table), table._repr_html_(), table.records()[0]["reason"]):
        assert f"counts the privacy noise alone where no sampling error is stated: {WHY}" in text


def test_whether_a_sample_differs_is_not_said_by_its_noise_alone():
    difference = withheld_engine(noise=False).compare({"sex": "f"}, {"sex": "m"})
    assert difference.p_value == difference.differs() == Withheld(WHY)
    assert WHY in difference.words()


def test_sampling_error_widens_the_interval_of_a_share():
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Independent(2.0))
    functions = {"jobs": {"a": 0.0, "b": 50.0}}
    manifest = manifest_of(cube, sampling={"kind": "variance-function", "functions": functions})
    plain, sampled = engine_of(cube).share({"sex": "f"}), engine_of(cube, manifest=manifest).share({"sex": "f"})
    assert sampled.moe() ** 2 - plain.moe() ** 2 == pytest.approx(1.645**2 * sampled.sampling_variance, rel=1e-6)
    empty = Cube(subject_of("jobs"), TABLE, np.zeros(TABLE.shape, dtype=np.int64), Independent(2.0))
    with pytest.raises(QueryError, match="within its own noise of 0"):
        engine_of(empty, manifest=manifest).share({"sex": "f"})


OF_CELL = "nine times in ten the true number of a cell as measured is half to twice what is published"
"""It holds of one measured cell: sums of several have other odds, shares and differences have none."""
MADE = {
    "en": "no error is told of a number that is computed from several measured cells",
    "de": "zu einer Zahl, die aus mehreren gemessenen Zellen berechnet ist, wird kein Fehler genannt",
}


def everything_said(table: Portable, language: str) -> list[str]:
    """All that is said of a table, wherever errors are withheld: notes, files, API, page, notebook and pictures."""
    answer = Answer(table, language=language)
    marks = [str(mark.withheld) for mark in plot_of(table, language=language).marks]
    return [" ".join(answer.unsaid), " ".join(dataset(answer)["note"]), marks[0]]


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_holds_of_a_cell_as_measured_is_said_of_such_cells_and_of_no_number_made_of_several(language):
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Withheld(WHY, OF_CELL))
    engine = engine_of(cube, manifest=manifest_of(cube))
    cells = engine.table(list(TABLE.names), at=dict.fromkeys(TABLE.names, "leaves"))
    sums = engine.table("age")
    *noted, marked = everything_said(cells, language)
    assert (WHY in marked, OF_CELL in marked, MADE[language] in marked) == (True, True, False)
    for said in noted:
        assert (WHY in said, OF_CELL in said, MADE[language] in said) == (True, True, True), "totals stand beside"
    for table in (sums, cells.shares(), sums.shares()):
        for said in everything_said(table, language):
            assert (WHY in said, OF_CELL in said, MADE[language] in said) == (True, False, True)
    mixed = engine.table(list(TABLE.names), at=dict.fromkeys(TABLE.names, "all"))
    (said,) = Answer(mixed, language=language).unsaid
    assert (OF_CELL in said, said.endswith(MADE[language])) == (True, True)


def test_texts_notebooks_and_details_say_it_of_measured_cells_alone():
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Withheld(WHY, OF_CELL))
    engine = engine_of(cube, manifest=manifest_of(cube))
    cells, sums = engine.table(list(TABLE.names), at=dict.fromkeys(TABLE.names, "leaves")), engine.table("age")
    one = next(codes for codes, figure in cells.items() if isinstance(figure, Estimate))
    assert all(OF_CELL in said for said in (repr(cells), cells._repr_html_(), repr(cells.detail(one))))
    summed = (repr(sums), sums._repr_html_(), repr(sums.detail("old")), sums.compare("old", "young").words())
    assert not any(OF_CELL in said for said in summed)
    assert all(WHY in said for said in summed)
    assert "computed from several measured cells" in summed[2]


@pytest.mark.parametrize(
    ("error", "in_german"),
    [
        (SmoothGamma(2).unstated(Relative(Fraction(1, 10))), "richtet sich nach der größten Einheit"),
        (LogLaplace("0.1").unstated(Relative(Fraction(1, 10))), "bei diesem Epsilon keine Varianz"),
        (LogLaplace(1, estimate="as drawn").unstated(Relative(Fraction(1, 10))), "im Mittel"),
        (Withheld(OF_QUANTILES), "wie dicht die Werte um ihn liegen"),
        (Withheld(OF_LINES), "wie dicht die Vorhersagen um ihn liegen"),
    ],
)
def test_the_reason_of_a_mechanism_is_said_in_german(error, in_german):
    said = untold(error, {True}, "de")
    assert in_german in said
    assert not any(one in said for one in (" the ", " is ", "number"))
