"""A search: what words mean in releases, held to plain ways of looking for the same."""

import random
import string
from difflib import SequenceMatcher

import numpy as np
import pytest
from tests.serve.small import SEXES, small

import sfumato as sf
from sfumato.query.finder import LONGEST, MOST, Finder
from sfumato.query.near_words import NearWords, distances
from sfumato.query.phrases import ANYWHERE, Phrase, Phrases, words_of
from sfumato.query.search_topics import SearchedTable
from sfumato.schema import Synonyms

JOBS = sf.Attribute(
    "job",
    sf.Levels.of(
        [
            {"code": "15-0000", "label": "Computer work"},
            {"code": "15-1252", "label": "Software developers", "parent": "15-0000"},
            {"code": "15-2041", "label": "Statisticians", "parent": "15-0000"},
            {"code": "35-2014", "label": "Köche in Gaststätten"},
        ]
    ),
    label="Occupation",
    synonyms=Synonyms(("15-1252", "15-1252"), ("Programmer", "Coder")),
)
STATES = sf.Attribute("state", sf.Levels.of([{"code": "TX", "label": "Texas"}, {"code": "CA", "label": "California"}]))


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return sf.open(small(tmp_path_factory.mktemp("found") / "firms", by=(JOBS, STATES, SEXES), period="2026"))


@pytest.fixture(scope="module")
def finder(release):
    return Finder([SearchedTable("firms~number", release, "number")])


def told(finder, asked):
    return [(one.codes, one.variable) for one in finder.find(asked)]


# Where words are found


def plainly(texts, words):
    """The texts that hold every word as the start of a word of theirs, by looking at each."""
    return {
        place
        for place, text in enumerate(texts)
        if all(any(own.startswith(word) for own in words_of(text)) for word in words)
    }


def test_phrases_find_what_a_look_at_every_text_finds():
    draw = random.Random(3)
    parts = ["soft", "software", "ware", "dev", "developers", "Ärzte", "15-12", "a", "of", "übe", "x_y", "ß"]
    texts = [" ".join(draw.choices(parts, k=draw.randint(1, 4))) for _ in range(400)]
    phrases = Phrases(texts)
    assert len(phrases) == len(texts)
    for _ in range(300):
        words = words_of(" ".join(draw.choices(parts, k=draw.randint(1, 3))))
        cut = tuple(word[: draw.randint(1, len(word))] for word in words)
        assert {one.place for one in phrases.find(cut, 10_000)} == plainly(texts, cut), cut


def test_a_text_that_is_what_was_asked_comes_first_however_many_begin_with_it():
    texts = [f"area {place}" for place in range(5_000)] + ["area"]
    first = Phrases(texts).find(("area",))[0]
    assert (first.place, first.fit) == (5_000, 0)


def test_texts_without_letters_keep_their_places():
    phrases = Phrases(["", "…", "one\ntwo", "three"])
    assert [one.place for one in phrases.find(("three",))] == [3]
    assert [one.place for one in phrases.find(("one", "two"))] == [2]
    assert [one.fit for one in phrases.find(("two", "one"))] == [ANYWHERE]


# How far words are apart


def by_recursion(one, other):
    """The distance by its definition (Wagner and Lowrance 1975), without a table."""
    if not one or not other:
        return len(one) + len(other)
    same = by_recursion(one[:-1], other[:-1]) + (one[-1] != other[-1])
    ways = [by_recursion(one[:-1], other) + 1, by_recursion(one, other[:-1]) + 1, same]
    if len(one) > 1 and len(other) > 1 and one[-1] == other[-2] and one[-2] == other[-1]:
        ways.append(by_recursion(one[:-2], other[:-2]) + 1)
    return min(ways)


def test_distances_are_those_of_the_definition():
    draw = random.Random(5)
    words = ["".join(draw.choices("abc", k=draw.randint(4, 6))) for _ in range(40)]
    near = NearWords.of(words)
    for asked in ("".join(draw.choices("abcd", k=draw.randint(3, 6))) for _ in range(12)):
        whole, begun = distances(asked, near.letters, near.lengths)
        assert whole.tolist() == [by_recursion(asked, word) for word in near.words]
        assert begun.tolist() == [min(by_recursion(asked, w[:n]) for n in range(len(w) + 1)) for w in near.words]


def test_a_mistyped_word_is_the_nearest_and_a_strange_one_stays():
    letters = random.Random(1)
    known = {"".join(letters.choices(string.ascii_lowercase, k=9)) for _ in range(300)}
    near = NearWords.of(known)
    for word in sorted(known)[:50]:
        swapped = word[:3] + word[4] + word[3] + word[5:]
        found = near.nearest(swapped)
        assert found is not None
        best = max(known, key=lambda one: SequenceMatcher(None, swapped, one).ratio())
        assert found == best == word
    assert near.nearest("zzzzzzzz") is None
    assert near.nearest("abc") is None, "a short word is near to too many"
    assert NearWords.of([]).nearest("anything") is None


# What words mean


@pytest.mark.parametrize(
    "asked",
    ["software developers", "SOFTWARE  Dev", "15-1252", "151252", "developers software", "Programmer", "sofwtare"],
)
def test_a_level_is_found_by_label_code_synonym_and_nearly(finder, release, asked):
    found = finder.find(asked)
    assert found.finds[0].codes == (("job", "15-1252"),)
    assert found.mistyped == (asked == "sofwtare")
    truth = release.total({"job": "15-1252"})
    assert (found.finds[0].figure.value, found.finds[0].figure.variance) == (truth.value, truth.variance)
    assert found.finds[0].synonym == ("Programmer" if asked == "Programmer" else "")


def test_letters_with_marks_are_found_without(finder):
    assert told(finder, "koche")[0] == ((("job", "35-2014"),), "")
    assert told(finder, "GASTSTÄTTEN")[0] == ((("job", "35-2014"),), "")


def test_several_things_are_found_together(finder, release):
    (one, *_) = finder.find("number of statisticians in texas")
    assert one.codes == (("job", "15-2041"), ("state", "TX"))
    assert one.figure.value == release.total({"job": "15-2041", "state": "TX"}).value
    assert told(finder, "programmer in California who are f")[0][0] == (
        ("job", "15-1252"),
        ("state", "CA"),
        ("sex", "f"),
    )


def test_a_variable_and_a_level_are_rows_and_a_share(finder):
    found = {(one.codes, one.variable, one.share) for one in finder.find("which state has most programmer")}
    level = (("job", "15-1252"),)
    assert found == {(level, "state", False), (level, "state", True)}
    assert told(finder, "Occupation") == [((), "job")]
    assert told(finder, "occupation statisticians")[0] == ((("job", "15-2041"),), ""), "a level after its variable"


def test_higher_levels_come_first_and_answers_are_bounded(finder):
    assert told(finder, "1")[0][0] == (("job", "15-0000"),)
    assert len(finder.find("c", 2)) == 2
    assert len(finder.find("a" * 10 * LONGEST)) == 0
    assert len(finder.find("")) == len(finder.find(" \n\t\0")) == len(finder.find("texas", 0)) == 0


def test_what_nothing_is_called_is_not_found(finder):
    found = finder.find("xylophone zebra")
    assert (len(found), found.mistyped) == (0, False)


def test_rude_input_is_only_text(finder):
    draw = np.random.default_rng(1)
    for length in (1, 50, 5_000):
        for _ in range(20):
            asked = "".join(map(chr, draw.integers(0, 0xD7FF, length)))
            assert len(finder.find(asked)) <= MOST
    for asked in ("(((((", ".*", "a" * 5_000, "\ud800", "%00", "'; DROP TABLE", "🦊 " * 200):
        finder.find(asked)


def test_releases_are_searched_by_their_folders(release):
    found = sf.find([release.release.folder], "programmer")
    assert [one.label for one in found] == ["Software developers"]
    assert found.finds[0].figure.value == release.total({"job": "15-1252"}).value


def test_what_may_not_be_summed_has_no_number(tmp_path):
    release = sf.open(small(tmp_path / "medians", by=(STATES, SEXES), additive=False))
    (one,) = sf.find([release], "texas")
    assert one.figure is None


@pytest.mark.parametrize("before", ["Cooks", "Cooks (all)", "Köche, alle.", "", "--"])
def test_a_text_is_found_whatever_the_text_before_it_ends_with(before):
    assert Phrases([before, "Dentists", "Nurses."]).find(["dentists"]) == [Phrase(1, 0)]
    assert [one.place for one in Phrases([before, "Dentists", "Nurses."]).find(["nurses"])] == [2]


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("percent programmers by state", "programmers by state"),
        ("share of programmers by state", "programmers by state"),
        ("change in programmers", "programmers"),
        ("Anteil der Programmers", "programmers"),
    ],
)
def test_words_that_ask_for_a_share_or_a_change_name_nothing(finder, asked, plain):
    assert told(finder, plain)
    assert told(finder, asked) == told(finder, plain)
