"""Text that knows its language: it is text like any other, and whatever is made of it knows which part is in which."""

import copy
import json
import pickle

import pytest

from sfumato.foreign_text import capitalized, filled, foreign, joined, language_of, marked, parts_of, without_stop
from sfumato.pictures.canvas import fitted
from sfumato.pictures.svg import text
from sfumato.query.wording import Reason, Sentence, words
from sfumato.serve.pages.tree import marked as hits

SIZE = foreign("Size of the firm", "en")
HOSTILE = foreign('x" onmouseover=alert(1) <script>alert(2)</script>', "en")


def test_it_is_text_like_any_other():
    assert SIZE == "Size of the firm"
    assert {"Size of the firm": 1}[SIZE] == 1
    assert json.loads(json.dumps({"label": SIZE})) == {"label": "Size of the firm"}
    for again in (copy.copy(SIZE), copy.deepcopy(SIZE), pickle.loads(pickle.dumps(SIZE))):
        assert parts_of(again) == parts_of(SIZE)


def test_numbers_and_codes_are_of_no_language():
    assert [language_of(foreign(one, "en")) for one in ("11-2021", "2026-Q1", "A", "", "Jobs")] == [
        "",
        "",
        "",
        "",
        "en",
    ]


def test_what_is_made_of_it_knows_its_parts():
    german = [("nach ", ""), ("Size of the firm", "en")]
    assert [*parts_of("nach " + SIZE)] == german
    assert [*parts_of(filled("nach {what}", {"what": SIZE}))] == german
    assert [*parts_of(joined("", ["nach ", SIZE]))] == german
    assert language_of("nach " + SIZE) == ""
    assert parts_of(SIZE[5:7]) == (("of", "en"),)
    assert parts_of(capitalized(foreign("jobs in the USA", "en"))) == (("Jobs in the USA", "en"),)
    assert parts_of(without_stop(foreign("Nothing here.", "en"))) == (("Nothing here", "en"),)


def test_texts_without_another_language_stay_plain():
    assert type(joined(", ", ["a", "b"])) is type(filled("{one:,}", {"one": 1234})) is str
    assert filled("{one:,}", {"one": 1234}) == "1,234"


def test_lines_of_a_picture_and_hits_of_a_search_keep_it():
    lines = fitted("Zahl der Betriebe nach " + foreign("Size of the whole firm", "en"), 110, lines=2)
    assert [language for line in lines for _, language in parts_of(line)] == ["", "", "en", ""]
    assert lines[1].endswith("…")
    assert [(part, hit, language_of(part)) for part, hit in hits(SIZE, ["OF"])] == [
        ("Size ", False, "en"), ("of", True, "en"), (" the firm", False, "en"),
    ]  # fmt: skip
    assert '<tspan lang="en">Size of the firm</tspan>' in text(0, 0, SIZE)


def test_nothing_in_it_is_read_as_a_tag():
    written = marked("nach " + HOSTILE)
    assert written.startswith('nach <span lang="en">x&quot; onmouseover=')
    assert "<script" not in written
    assert "<script" not in text(0, 0, HOSTILE)


@pytest.mark.parametrize(("language", "marks"), [("en", [""]), ("de", ["", "en", ""])])
def test_a_reason_of_no_known_form_is_in_english_within_a_german_sentence(language, marks):
    said = Sentence("missing", {"reason": Reason("Nobody has thought of this reason.")}).said(words(language))
    assert [tag for _, tag in parts_of(said)] == marks


def test_a_reason_of_a_known_form_is_said_in_german():
    said = Sentence(
        "missing", {"reason": Reason("The ratio has a denominator of 0; choose a larger group to divide by.")}
    )
    assert "Der Nenner des Verhältnisses ist 0" in said.said(words("de"))
    assert "a denominator of 0" in said.said(words("en"))
