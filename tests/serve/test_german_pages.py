"""German pages hold no English that is not marked: of a release that says all in German, and of the whole demo."""

from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.serve.german import english, untranslated, walked
from tests.serve.small import promised, small

import sfumato as sf
from sfumato.cli.demo import _made
from sfumato.foreign_text import language_of, parts_of
from sfumato.plan.toml import SHIPPED
from sfumato.plugins import found
from sfumato.privacy import neighbours
from sfumato.query.notices import notices_of
from sfumato.release import Translation, in_language, open_release
from sfumato.release.translator import Translator
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.pages.site import in_its_language

SIZES = sf.Attribute(
    "size",
    sf.Levels.of([
        {"code": "s", "label": "Smaller than the others", "label.de": "Klein"},
        {"code": "m", "label": "Of the middle", "label.de": "Mittel"},
        {"code": "l", "label": "Larger than all of these", "label.de": "Groß"},
    ]),
    label="Size of the firm",
)  # fmt: skip
SEXES = sf.Attribute("sex", sf.Levels.of([{"code": "f", "label.de": "w"}, "m"]), label="Sex")
GERMAN = Translation(
    title="Betriebe",
    labels={"size": "Größe", "sex": "Geschlecht"},
    titles={"Number of firms": "Zahl der Betriebe"},
    units={"firm": "Betrieb", "firms": "Betriebe"},
    sentences={
        "Whether any one firm is there.": "Ob ein Betrieb da ist.",
        "How many firms there are": "Wie viele Betriebe es gibt",
        "a register tells it": "ein Register sagt es",
    },
)
START = (
    "/?lang=de",
    "/firms~number?rows=size&cols=sex&cell=s|f&lang=de",
    "/firms~number?rows=size&cols=sex&cell=s|f&hold=m|f&lang=de",
    "/firms~number?rows=size&view=chart&lang=de",
    "/firms~number?rows=size&cols=sex&share=row&noise=on&lang=de",
    "/firms~number/shake?rows=size&lang=de",
    "/firms~number/embed?rows=size&lang=de",
    "/firms~number/pick?variable=size&lang=de",
    "/find?q=klein&lang=de",
    "/find?q=nichts&lang=de",
)


def found_in(browser, start=START, most=10, known=()):
    pages = dict(walked(browser.get, start, most))
    assert len(pages) >= len(START)
    found = {text: address for address, page in pages.items() for text in english(page, known)}
    # What a reader wrote stays as it was written.
    return {text: at for text, at in found.items() if not (asked := _asked(at)) or asked not in text}


def _asked(address):
    return parse_qs(urlsplit(address).query).get("q", [""])[0]


def test_no_english_is_left_where_the_plan_says_all_in_german(tmp_path, browse):
    release = small(tmp_path / "firms", by=(SIZES, SEXES), languages={"de": GERMAN}, software="sfumato")
    assert found_in(browse([release])) == {}


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["labels", "titles", "sentences", "levels"])
def test_what_the_plan_does_not_say_is_marked_as_english(tmp_path, browse, lost):
    sizes = SIZES
    if lost == "levels":
        sizes = sf.Attribute("size", sf.Levels.of(_plain(SIZES)), label=SIZES.label)
    german = GERMAN if lost == "levels" else GERMAN.model_copy(update={lost: {}})
    release = small(tmp_path / "firms", by=(sizes, SEXES), languages={"de": german}, software="sfumato")
    browser, known = browse([release]), untranslated(Catalogue.of([open_release(release)]).in_language("de"))
    assert found_in(browser, most=60, known=known) == {}
    page = browser.get("/firms~number?rows=size&lang=de").text
    assert '<span lang="en">' in page
    # Without the marks the same words are found: the walk does not overlook them.
    assert lost == "titles" or english(page.replace(' lang="en"', ""))


def _plain(attribute):
    return [{"code": code, "label": attribute.levels.label(code)} for code in attribute.levels.codes]


def test_the_walk_finds_english_where_it_is_not_marked():
    assert english("<html lang=de><p>This is not marked.</p>") == ["This is not marked."]
    assert english('<html lang=de><p lang="en">This is marked.</p><p>Das ist Deutsch, und in der Zeile.</p>') == []
    assert english('<html lang=de><a aria-label="Sort by size">↕</a>') == ["Sort by size"]


def test_every_promise_has_words_in_german():
    translator = Translator("de")
    for one in found(neighbours, by="kind").values():
        for text in (one.words(), one.not_hidden(), *(told.whom for told in one.implied())):
            assert not text or not language_of(translator.sentence(text)), text


REFUSED = {
    "/firms~number?rows=size&valueCodes[size]=q": "Größe: „q“ ist keine Ausprägung; bekannt sind s, m, l, Klein",
    "/firms~number?rows=sizes": "„sizes“ ist kein Merkmal von Zahl der Betriebe; meinten Sie „size“?",
    "/firms~number?rows=size&cols=size": "Größe steht in den Zeilen und in den Spalten; wählen Sie ein anderes",
    "/firms~number?rows=size&error=xyz": "error ist „xyz“; bekannt sind moe90",
    "/firms~number?rows=size&cell=s|f|x": "Die Zelle „s|f|x“ gehört nicht zu dieser Tabelle, die nach size",
    "/firms~numbr": "Diese Seite gibt es hier nicht; die erste Seite nennt alle Tabellen.",
    "/series/firm": "Eine Reihe „firm“ gibt es hier nicht; meinten Sie „firms“?",
}


def test_what_is_refused_is_refused_in_german(tmp_path, browse):
    release = small(tmp_path / "firms", by=(SIZES, SEXES), languages={"de": GERMAN}, software="sfumato")
    browser = browse([release])
    for address, said in REFUSED.items():
        reply = browser.get(f"{address}{'&' if '?' in address else '?'}lang=de")
        assert reply.status_code in {400, 404}
        assert said in unescape(reply.text), address
        assert english(reply.text) == [], address
        english_page = unescape(browser.get(f"{address}{'&' if '?' in address else '?'}lang=en").text)
        assert said not in english_page


def test_periods_that_are_not_compared_are_refused_in_german():
    said = Translator("de").sentence
    other = (
        "Löhne counts something else in 2026 than in 2025: another statistic, or other records; ask for each by itself."
    )
    assert said(other).startswith("Löhne zählt in 2026 etwas anderes als in 2025: eine andere Statistik oder andere")
    bounds = "0 to 60,000 in 2025; 0 to 90,000.5 in 2026"
    held = f"Löhne counts values within other bounds ({bounds}), so that the difference is not what changed; show the"
    told = said(f"{held} periods beside each other.")
    assert told.startswith(
        "Löhne zählt Werte in anderen Grenzen (0 bis 60.000 in 2025; 0 bis 90.000,5 in 2026), so dass"
    )


def test_a_refusal_of_no_known_form_is_marked_as_english(tmp_path, browse):
    release = small(tmp_path / "firms", by=(SIZES, SEXES), languages={"de": GERMAN}, software="sfumato")
    page = browse([release]).get("/firms~number?rows=size&group[size]=a:s&group[size]=A:m&lang=de")
    assert page.status_code == 400
    assert '<span lang="en">Größe: two groups are named' in page.text


def test_the_units_of_a_release_in_german_keep_their_capitals(tmp_path, browse):
    german = GERMAN.model_copy(update={"units": {"firm": "Betrieb", "firms": "betriebe der Stadt"}})
    release = small(tmp_path / "firms", by=(SIZES, SEXES), languages={"de": german})
    assert "<caption><span>Betriebe der Stadt" in browse([release]).get("/firms~number?rows=size&lang=de").text


def test_notices_are_german_and_the_words_of_a_publisher_stay(tmp_path):
    published = replace(open_release(small(tmp_path / "firms", languages={"de": GERMAN})), withdrawn="It was wrong")
    (german,), (own,) = notices_of(in_language(published, "de")), notices_of(published)
    assert (own.sentence, own.warning) == ("Withdrawn: It was wrong.", "WITHDRAWN: It was wrong.")
    assert parts_of(german.sentence) == (("Zurückgezogen: ", ""), ("It was wrong", "en"), (".", ""))
    assert german.warning == "ZURÜCKGEZOGEN: It was wrong."


def test_a_release_in_german_has_its_promise_in_german_and_its_title_marked_on_english_pages(tmp_path):
    """What the program states is English in every manifest, whichever language the plan is in."""
    english_plan = open_release(small(tmp_path / "firms"))
    told = english_plan.manifest.promise.model_copy(
        update={"words": "What any one firm answered, in its one row; the number of units is public."}
    )
    manifest = english_plan.manifest.model_copy(update={"language": "de", "promise": told, "title": "Betriebe"})
    own = replace(english_plan, manifest=manifest)
    german, english_view = in_language(own, "de").manifest, in_language(own, "en").manifest
    assert german.promise.words.startswith("Was eine Einheit (firm) angegeben hat")
    assert language_of(german.title) == ""
    assert language_of(english_view.title) == "de"
    assert parts_of(english_view.promise.words) == ((told.words, ""),)


def test_units_and_variables_that_have_no_german_name_are_marked_within_a_german_promise(tmp_path, browse):
    told = Translator("de", Translation(units={"jobs": "Arbeitsplätze"}), {"place": "Ort"})
    promise = "What any one firm answered, in its one row (its place and size and the number of units are public)."
    assert [part for part in parts_of(told.sentence(promise)) if part[1]] == [("firm", "en"), ("size", "en")]
    assert parts_of(told.sentence("At most 2 jobs of one firm count.")) == (
        ("Höchstens 2 Arbeitsplätze je Einheit (", ""), ("firm", "en"), (") zählen.", ""),
    )  # fmt: skip
    words = promised({"epsilon": "1"}, words="Whether any one firm is in the data at all, with its one row.")
    page = browse([small(tmp_path / "firms", promise=words)]).get("/privacy/firms?lang=de").text
    assert 'Ob eine Einheit (<span lang="en">firm</span>) überhaupt in den Daten ist' in page


def test_the_sign_of_a_margin_stays_with_its_number():
    assert in_its_language("gäbe bei 90 % ± 169: <b>") == "gäbe bei 90 % ±\u00a0169: &lt;b&gt;"


def test_a_sentence_of_no_known_form_stays_as_it_is():
    told = Translator("de", Translation(units={"firm": "Betrieb"}))
    assert told.sentence("Whether any one firm is in the data at all, with its one row. And more.").startswith(
        "Whether"
    )
    assert told.sentence("mu 1.9992 (its square is 3.996904)") == "mu 1,9992 (sein Quadrat ist 3,996904)"
    assert told.sentence("What any one firm answered, in its rows, at most 1,000; the number of units is public.") == (
        "Was eine Einheit (Betrieb) angegeben hat, in ihren Zeilen, höchstens 1.000; die Zahl der Einheiten ist "
        "öffentlich."
    )


@pytest.mark.parametrize("name", ["ors", "employment", "iab", "iab-levels", "lodes", "pseo", "qcew", "qcew-suppressed"])
def test_the_plans_of_the_demo_say_all_but_long_lists_in_german(name):
    plan = sf.Plan.read(SHIPPED / f"{name}.toml")
    german = plan.translations["de"]
    assert german.title
    assert {*plan.schema.names} <= {*german.labels}
    assert {one.own_title(plan.schema.unit) for one in plan.measures} <= {*german.titles}
    assert {text for one in plan.exposures for text in (one.what, one.why)} <= {*german.sentences}
    for attribute in plan.schema.attributes:
        told = attribute.levels.in_language("de")
        assert len(told.codes) > 20 or not [code for code in told.codes if language_of(told.label(code))]


@pytest.mark.slow
def test_the_whole_demo_is_walked_in_german(tmp_path, browse):
    folders = _made(Path(tmp_path / "demo"), 4_000)
    known = untranslated(Catalogue.open(folders).in_language("de"))
    start = [
        "/?lang=de",
        "/employment~jobs?rows=state&view=map&lang=de",
        "/employment~wages?rows=state&per=jobs&lang=de",
    ]
    start += ["/ors~employment?rows=occupation&cols=strength&cell=15-0000|heavy&lang=de"]
    assert found_in(browse(folders), start, 400, known) == {}


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("At most 1 job of one worker counts.", "Höchstens 1 Arbeitsplatz je Einheit (worker) zählt."),
        ("At most 5,000 jobs of one worker count.", "Höchstens 5.000 Arbeitsplätze je Einheit (worker) zählen."),
    ],
)
def test_how_many_rows_of_a_unit_count_is_said_of_one_and_of_many(english, german):
    said = Translation(units={"job": "Arbeitsplatz", "jobs": "Arbeitsplätze"})
    assert Translator("de", said).sentence(english) == german
