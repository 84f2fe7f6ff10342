"""What a plan says in further languages: written back equal, refused in words, and free of charge."""

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.foreign_text import language_of
from sfumato.schema import Levels, Synonyms

PLAN = """
name = "places"
title = "Jobs and wages by place"

[data]
unit = "job"
repeated_rows = true

[attributes.place]
label = "Place"
levels = "places.csv"
synonyms = "synonyms.csv"

[attributes.sex]
levels = ["f", "m"]

[hidden]
neighbours = "add-remove"
unit = "job"

[limit]
epsilon = "2"

[[measure]]
name = "jobs"
of = "count"
by = ["place", "sex"]
with = { mechanism = "geometric", epsilon = "1" }

[[measure]]
name = "wages"
title = "Wages"
of = { statistic = "total", column = "wage", clip = ["0", "60000"], step = "100", unit = "dollars" }
by = ["place"]
with = { mechanism = "geometric", epsilon = "1" }

[[exposure]]
kind = "published"
what = "the list of places"
why = "a map shows it"
"""
GERMAN = """
[languages.de]
title = "Arbeitsplätze und Löhne nach Ort"
labels = { place = "Ort", sex = "Geschlecht" }
titles = { "Number of jobs" = "Zahl der Arbeitsplätze", Wages = "Löhne" }
units = { job = "Arbeitsplatz", jobs = "Arbeitsplätze", dollars = "Dollar" }
sentences = { "the list of places" = "die Liste der Orte", "a map shows it" = "eine Karte zeigt sie" }
levels.sex = { f = "Frauen", m = "Männer" }
notes.sex = { f = "auch Mädchen" }
synonyms.sex = { f = ["weiblich", "Damen"], m = "männlich" }
"""


@pytest.fixture
def beside(tmp_path):
    (tmp_path / "places.csv").write_text("code,label,label.de,note.de\nN,North,Nord,oben\nS,South,,\n")
    (tmp_path / "synonyms.csv").write_text("code,synonym,synonym.de\nN,Up,Norden\nS,,Süden\n")
    return tmp_path / "plan.toml"


def read(beside, german=GERMAN):
    return sf.Plan.parse(PLAN + german, beside)


def test_a_plan_in_two_languages_reads_back_equal_and_costs_the_same(beside):
    plan = read(beside)
    again = sf.Plan.parse(plan.to_toml(), Path("elsewhere.toml"))
    assert again == plan
    for before, after in zip(plan.schema.attributes, again.schema.attributes, strict=True):
        assert after.levels.texts == before.levels.texts
        assert after.levels.texts
        assert after.synonyms == before.synonyms
    assert again.to_toml() == plan.to_toml()
    assert read(beside).price() == read(beside, "").price()


def test_levels_are_told_in_a_language_as_far_as_they_are_said_in_it(beside):
    place, sex = (one.levels.in_language("de") for one in read(beside).schema.attributes)
    assert (place.labels, place.label("S").parts, place.notes) == (("Nord", "South"), (("South", "en"),), ("oben", ""))
    assert (sex.labels, sex.notes, sex.codes) == (("Frauen", "Männer"), ("auch Mädchen", ""), ("f", "m"))
    assert [language_of(place.in_language("fr").label(code)) for code in "NS"] == ["en", "en"]


def test_levels_that_are_cut_off_keep_their_texts():
    deep = Levels.of([{"code": "1", "label.de": "Eins"}, {"code": "11", "parent": "1", "label.de": "Elf"}])
    assert deep.cut(0).in_language("de").labels == ("Eins",)
    assert deep.in_language("de").cut(0).labels == ("Eins",)


def test_synonyms_know_their_language(beside):
    place, sex = (one.synonyms for one in read(beside).schema.attributes)
    said = list(zip(place.codes, place.names, place.languages, strict=True))
    assert said == [("N", "Up", ""), ("N", "Norden", "de"), ("S", "Süden", "de")]
    assert sex.names == ("weiblich", "Damen", "männlich")
    assert Synonyms.of(place.records()) == place


@pytest.mark.parametrize(
    ("written", "wrong", "said"),
    [
        ("[languages.de]", "[languages.dx]", "no language that is known as 'dx'"),
        ("[languages.de]", "[languages.en]", "own texts are in 'en'"),
        ("[languages.de]\n", '[languages.de]\ntitel = "x"\n', "no key 'titel'; did you mean 'title'"),
        ('f = "Frauen"', 'w = "Frauen"', "names 'w', which is no level"),
        ('f = "Frauen"', 'f = ""', "is no text"),
        ('f = "Frauen"', 'f = "Frau\\u0000en"', "control character"),
        ('f = "Frauen"', 'f = "\\u202enerauF"', "control character"),
        ("levels.sex", "levels.sxe", "did you mean 'sex'"),
        ('place = "Ort"', 'plaec = "Ort"', "did you mean 'place'"),
        ("Wages =", "Wage =", "did you mean 'Wages'"),
        ("dollars =", "dolars =", "did you mean 'dollars'"),
        ('"a map shows it"', '"a map shows them"', "did you mean 'a map shows it'"),
        ('m = "männlich"', 'x = "männlich"', "is of 'x', which is no level"),
    ],
)
def test_what_the_plan_has_not_is_refused_in_words(beside, written, wrong, said):
    assert written in GERMAN
    with pytest.raises(PlanError, match=said):
        read(beside, GERMAN.replace(written, wrong, 1))


@pytest.mark.parametrize("column", ["label.xx", "label.german", "note.", "label.DE"])
def test_a_column_in_no_language_is_refused(beside, column):
    beside.with_name("places.csv").write_text(f"code,{column}\nN,x\nS,y\n")
    with pytest.raises(PlanError, match="in no language"):
        read(beside)


def test_a_plan_may_be_in_another_language_itself(beside):
    beside.with_name("places.csv").write_text("code,label.en\nN,North\nS,South\n")
    beside.with_name("synonyms.csv").write_text("code,synonym\nN,Norden\n")
    plan = sf.Plan.parse('language = "de"\n' + PLAN + '[languages.en]\nlabels = { place = "Place" }\n', beside)
    assert plan.language == "de"
    assert sf.Plan.parse(plan.to_toml(), Path("elsewhere.toml")) == plan
    with pytest.raises(PlanError, match="own texts are in 'de'"):
        sf.Plan.parse('language = "de"\n' + PLAN + GERMAN, beside)
