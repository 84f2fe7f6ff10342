"""Attributes: bands, recodes and missing codes say how a column is read, and refuse what they cannot mean."""

from decimal import Decimal
from fractions import Fraction

import pytest

from sfumato.errors import PlanError
from sfumato.schema import Attribute, Bands, Column, Levels, Missing, Recode, Rule, Schema

SEX = Levels.of(["f", "m", "unknown"])


def test_bands_are_named_by_their_ends():
    assert Bands("age", (0, 16, 17, 65)).levels().codes == ("0-15", "16", "17-64", "65+")
    assert Bands("wage", ("0", "7.25", "15")).levels().codes == ("0 to under 7.25", "7.25 to under 15", "15+")


def test_edges_are_exact_numbers_however_written():
    assert Bands("wage", ("7.25", Decimal("7.5"), 8)).edges == (Fraction(29, 4), Fraction(15, 2), Fraction(8))


@pytest.mark.parametrize("edges", [(16, 0), (0, 0), (), (0, 65, 16)])
def test_bands_that_do_not_rise_are_refused(edges):
    with pytest.raises(PlanError, match="bands of 'age' must rise"):
        Bands("age", edges)


@pytest.mark.parametrize(
    "edges", [("young",), (Decimal("NaN"),), (Decimal("Infinity"),), ("1/0",), (Decimal("1e999999999"),)]
)
def test_bands_that_are_no_numbers_are_refused_at_once(edges):
    with pytest.raises(PlanError, match="bands of 'age' are no numbers"):
        Bands("age", edges)


def test_an_attribute_is_read_from_the_column_of_its_own_name_unless_told():
    plain = Attribute("sex", SEX)
    assert plain.read == Column("sex")
    assert plain.column == "sex"
    assert plain.label == "sex"
    assert Attribute("sex", SEX, read=Column("SEX")).column == "SEX"


def test_codes_are_read_as_the_places_of_their_leaves():
    assert Attribute("sex", SEX).raw_codes == {"f": 0, "m": 1, "unknown": 2}


def test_a_code_above_the_leaves_is_not_read_from_data():
    levels = Levels.of(["29", {"code": "29-1", "parent": "29"}, "35"])
    assert Attribute("soc", levels).raw_codes == {"29-1": 0, "35": 1}


def test_a_recode_reads_other_values_as_codes():
    attribute = Attribute("sex", SEX, read=Recode.of("SEX", {"1": "m", "2": "f", "3": "f"}))
    assert attribute.column == "SEX"
    assert attribute.raw_codes == {"1": 1, "2": 0, "3": 0}


def test_missing_codes_are_read_as_the_missing_level():
    attribute = Attribute("sex", SEX, missing=Missing("unknown", ("9", "99")))
    assert attribute.raw_codes == {"f": 0, "m": 1, "unknown": 2, "9": 2, "99": 2}


def test_bands_are_read_by_their_edges_and_only_missing_by_code():
    bands = Bands("AGEP", (0, 16))
    levels = Levels.of([*bands.levels().codes, "no answer"])
    attribute = Attribute("age", levels, read=bands, missing=Missing("no answer", ("-1",)))
    assert attribute.raw_codes == {"-1": 2}


def test_there_is_one_level_a_band():
    with pytest.raises(PlanError, match="'age' has 2 bands and 3 levels"):
        Attribute("age", Levels.of("abc"), read=Bands("AGEP", (0, 16)))
    with pytest.raises(PlanError, match="'age' has 2 bands and 1 levels"):
        Attribute("age", Levels.of(["young", "?"]), read=Bands("AGEP", (0, 16)), missing=Missing("?"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"missing": Missing("unknwon")}, "missing names 'unknwon'.*did you mean 'unknown'"),
        ({"read": Recode.of("SEX", {"1": "mm"})}, "recode names 'mm'.*did you mean 'm'"),
    ],
)
def test_a_code_that_is_no_lowest_level_is_refused_by_name(given, said):
    with pytest.raises(PlanError, match=said):
        Attribute("sex", SEX, **given)


def test_an_inner_level_can_be_neither_missing_nor_recoded_to():
    levels = Levels.of(["29", {"code": "29-1", "parent": "29"}])
    with pytest.raises(PlanError, match="'29', which is no lowest level"):
        Attribute("soc", levels, missing=Missing("29"))


@pytest.mark.parametrize("name", ["", "a b", "a-b", 'a"; DROP TABLE x', "a.b"])
def test_a_name_is_letters_digits_and_underscores(name):
    with pytest.raises(PlanError, match="must be letters, digits and underscores"):
        Attribute(name, SEX)


def test_a_schema_names_each_attribute_once_and_answers_with_the_nearest():
    with pytest.raises(PlanError, match="'sex' is declared twice"):
        Schema((Attribute("sex", SEX), Attribute("sex", SEX)))
    schema = Schema((Attribute("sex", SEX), Attribute("age", Levels.of("ab"))))
    assert schema.table(["age", "sex"]).names == ("age", "sex")
    with pytest.raises(PlanError, match="'agee' is not an attribute of this plan; did you mean 'age'"):
        schema.table(["agee"])
    with pytest.raises(PlanError, match="sex, sex names an attribute twice"):
        schema.table(["sex", "sex"])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"sxe": "f"}, "'sxe' is not an attribute of this plan; did you mean 'sex'"),
        ({"sex": "ff"}, "over 'sex': 'ff' is not a level; did you mean 'f'"),
        ({}, "names no attribute"),
    ],
)
def test_an_impossible_combination_must_name_what_there_is(rule, said):
    with pytest.raises(PlanError, match=said):
        Schema((Attribute("sex", SEX),), impossible=(Rule.of(rule),))


def test_a_rule_binds_only_the_tables_that_hold_all_its_attributes():
    schema = Schema(
        (Attribute("sex", SEX), Attribute("age", Levels.of("ab"))), impossible=(Rule.of({"sex": "f", "age": "a"}),)
    )
    assert len(schema.table(["sex", "age"]).impossible) == 1
    assert schema.table(["sex"]).impossible == ()
    assert schema.table(["age", "sex"]).margin(["age"]).impossible == ()
