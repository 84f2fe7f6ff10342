"""The language of a reply: what the address says, then what the browser asks for; caches keep them apart."""

from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.serve.small import SIZES, Seen, seen, small

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.release import Translation, in_language, open_release
from sfumato.serve.languages import preferred
from sfumato.serve.still import write_site

SEXES = sf.Attribute(
    "sex",
    sf.Levels.of([{"code": "f", "label": "Women", "label.de": "Frauen"}, {"code": "m", "label": "Men"}]),
    label="Sex",
    synonyms=sf.schema.Synonyms.of([{"code": "f", "synonym": "Ladies"}, {"code": "f", "synonym.de": "Damen"}]),
)
GERMAN = Translation(
    title="Betriebe",
    labels={"size": "Größe", "sex": "Geschlecht"},
    titles={"Number of firms": "Zahl der Betriebe"},
    units={"firm": "Betrieb", "firms": "Betriebe"},
    sentences={"a register tells it": "ein Register sagt es"},
)
GERMAN_READER = {"Accept-Language": "de-AT, en;q=0.7"}
PAGES = (
    "/", "/help", "/budget", "/api", "/find?q=women", "/privacy/firms", "/series/firms", "/firms~number",
    "/firms~number?rows=sex&view=chart", "/firms~number/picture.svg?rows=sex&view=chart",
    "/firms~number/shake?rows=sex",
    "/firms~number/pick?variable=sex", "/firms~number/embed?rows=sex", "/nothing",
)  # fmt: skip


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    return small(tmp_path_factory.mktemp("spoken") / "firms", by=(SIZES, SEXES), languages={"de": GERMAN})


@pytest.fixture(scope="module")
def firms(spoken, browse):
    return browse([spoken])


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("de", "de"), ("de-AT", "de"), ("DE-ch-1996", "de"), ("en-GB,de;q=0.9", "en"),
        ("fr-FR, fr;q=0.9, de;q=0.1", "de"),
        ("fr", "en"), ("", "en"), ("*", "en"), ("de;q=0", "en"), ("de;q=0, *;q=0.5", "en"), ("en;q=0, *", "de"),
        ("de;q=0.5, en;q=0.4", "de"), ("de;q=0.4, en;q=0.5", "en"), ("de;q=2", "en"), ("de;q=x", "en"), (";;;,,", "en"),
        ("de; q=0.8 , en ; q=0.9", "en"), ("en;q=0.001,de;q=0.002", "de"), ("x" * 5000 + ",de", "en"),
        ("deutsch", "en"),
    ],
)  # fmt: skip
def test_the_most_wanted_language_that_is_offered_is_given(asked, given):
    assert preferred(asked, ("en", "de"), "en") == given


def test_a_german_browser_is_answered_in_german_and_an_address_wins_over_it(firms):
    german = Seen(firms.get("/firms~number?rows=sex", headers=GERMAN_READER).text)
    assert dict(german.elements)["html"]["lang"] == "de"
    assert "Frauen" in german.text
    assert "Zahl der Betriebe" in german.text
    english = Seen(firms.get("/firms~number?rows=sex&lang=en", headers=GERMAN_READER).text)
    assert dict(english.elements)["html"]["lang"] == "en"
    assert "Women" in english.text
    assert "Frauen" not in english.text


@pytest.mark.parametrize("address", PAGES)
def test_a_shared_cache_can_give_no_reader_the_language_of_another(firms, address):
    unsaid = {name: firms.get(address, headers=headers) for name, headers in _READERS.items()}
    for reply in unsaid.values():
        assert "accept-language" in reply.headers["vary"].lower()
    tags = [reply.headers.get("etag") for reply in unsaid.values()]
    assert tags == [None, None] or tags[0] != tags[1]
    assert unsaid["en"].content != unsaid["de"].content
    also = "&" if "?" in address else "?"
    for code, headers in product(("en", "de"), _READERS.values()):
        said = firms.get(f"{address}{also}lang={code}", headers=headers)
        assert "accept-language" not in said.headers.get("vary", "").lower()
        assert said.headers.get("etag") is None or said.headers["etag"] != tags[code == "en"]
    # Whoever holds the page in one language does not hold it in the other.
    if tags[0]:
        again = [firms.get(address, headers={**_READERS["de"], "If-None-Match": tag}).status_code for tag in tags]
        assert again == [200, 304]


_READERS = {"en": {"Accept-Language": "en"}, "de": GERMAN_READER}


@pytest.mark.parametrize("address", ["/api/v2/tables", "/api/v2/search?q=women", "/api/v2/config", "/openapi.json"])
def test_programs_are_answered_by_their_address_alone(firms, address):
    english, german = (firms.get(address, headers=headers) for headers in _READERS.values())
    assert english.content == german.content
    assert english.headers["etag"] == german.headers["etag"]
    assert "accept-language" not in english.headers.get("vary", "").lower()


def test_what_lies_under_its_hash_is_one_for_all_languages(firms):
    page = Seen(firms.get("/", headers=GERMAN_READER).text)
    sheets = [one["href"] for tag, one in page.elements if tag == "link" and one["rel"] == "stylesheet"]
    listed = firms.get("/api/v2/files/firms").json()["files"]
    for address in (sheets[0], "/" + listed[0]["href"].partition("8000/")[2]):
        english, german = (firms.get(address, headers=headers) for headers in _READERS.values())
        assert english.status_code == german.status_code == 200
        assert english.content == german.content
        assert "accept-language" not in german.headers.get("vary", "").lower()
        assert "immutable" in german.headers["cache-control"]


def test_a_reader_stays_in_the_language_that_was_chosen(firms):
    for code in ("en", "de"):
        page = Seen(firms.get(f"/?lang={code}", headers=GERMAN_READER).text)
        inside = [href for href in page.links if href.startswith("/") and "/api/v2/" not in href]
        assert inside
        assert all(f"lang={code}" in href for href in inside)
    plain = Seen(firms.get("/", headers=_READERS["en"]).text)
    assert not any("lang=" in href for href in plain.links if "lang=de" not in href)


@pytest.fixture(scope="module")
def german_firms(tmp_path_factory, browse):
    """A server of releases whose own texts are German."""
    return browse([small(tmp_path_factory.mktemp("german") / "firms", language="de")])


def _oembed(address):
    return f"/oembed?url={quote('http://127.0.0.1:8000' + address, safe='')}"


def test_oembed_speaks_the_language_of_the_page_that_it_is_asked_for(firms, german_firms):
    for site, address, said in (
        (firms, "/firms~number?rows=sex&lang=de", "lang=de"),
        (german_firms, "/firms~number?rows=sex", "lang=de"),
        (german_firms, "/firms~number?rows=sex&lang=en", "lang=en"),
    ):
        reply = site.get(_oembed(address))
        assert reply.status_code == 200, reply.text
        frame = Seen(reply.json()["html"]).elements[0][1]
        assert frame["src"].endswith(said)
        inside = Seen(site.get(frame["src"].removeprefix("http://127.0.0.1:8000")).text)
        assert frame["title"] in inside.text
    german = firms.get(_oembed("/firms~number?rows=sex&lang=de")).json()
    assert "Frauen" in german["title"]
    assert "Zahl der Betriebe nach Geschlecht" in german["html"]


def test_a_saved_query_is_answered_in_the_language_that_it_was_saved_in(firms, german_firms):
    body = {"tableId": "firms~number", "selection": {"selection": [{"variableCode": "sex", "valueCodes": ["*"]}]}}
    direct = "/api/v2/tables/firms~number/data?valueCodes[sex]=*"
    for site, saved, said in product((firms, german_firms), (None, "en", "de"), ("", "en", "de")):
        made = site.ask("POST", "/api/v2/savedqueries", json=body | ({"language": saved} if saved else {}))
        assert made.status_code == 201, made.text
        address, language = made.headers["location"], said or saved
        found = site.get(f"{address}/data{f'?lang={said}' if said else ''}")
        assert found.json() == site.get(direct + (f"&lang={language}" if language else "")).json()


def test_the_search_finds_words_of_every_language_in_every_language(firms):
    for words, lang in product(("women", "frauen", "damen", "ladies"), ("en", "de")):
        found = firms.get(f"/api/v2/search?q={words}&lang={lang}").json()["finds"]
        assert found[0]["codes"] == {"sex": "f"}
        assert found[0]["label"] == {"en": "Women", "de": "Frauen"}[lang]
    assert "größe" in seen(firms, "/find?q=gr%C3%B6%C3%9Fe&lang=de").text.lower()


def test_python_finds_words_of_every_language_in_every_language(spoken):
    for name, language in product(("women", "frauen", "damen", "ladies", "number of firms"), ("en", "de")):
        finds = [*sf.find([sf.open(spoken, language=language)], name)]
        assert finds, f"{name} in {language}"
        assert finds[0].table.engine.release.language == language
    german = sf.find([sf.open(spoken, language="de")], "women by size")
    assert [(one.label, one.variable) for one in german][:1] == [("Frauen, Größe", "size")]
    assert [one.label for one in sf.find([sf.open(spoken, language="de")], "women")] == ["Frauen"]


def test_codes_and_numbers_are_the_same_in_every_language(spoken):
    own = open_release(spoken)
    german = in_language(own, "de")
    assert german.id == own.id
    assert in_language(german, "en") is own
    tables = [sf.query.QueryEngine(one).table("sex") for one in (own, german)]
    assert [list(one.axes[0].codes) for one in tables] == [["f", "m"], ["f", "m"]]
    first, second = ([figure.value for _, figure in one.items()] for one in tables)
    assert first == second
    assert tables[1].unit == "Betriebe"


def test_a_release_keeps_what_it_says_under_its_hash(spoken, tmp_path):
    manifest = open_release(spoken).manifest
    assert manifest.languages == {"de": GERMAN}
    plain = open_release(small(tmp_path / "plain")).manifest
    assert b'"language' not in plain.to_bytes()
    assert type(manifest).from_bytes(manifest.to_bytes()) == manifest


def test_a_site_of_files_has_each_page_in_each_language(spoken, tmp_path):
    made = write_site([spoken], tmp_path / "www", "https://agency.example/firms", ["en", "de"])
    www = tmp_path / "www"
    pages = {path.relative_to(www) for path in www.rglob("*.html")}
    german = {path for path in pages if path.parts[0] == "de"}
    assert made.pages == len(pages)
    assert {Path("de") / path for path in pages - german} == german
    assert not (www / "de" / "releases").exists()
    english, other = ((www / folder / "index.html").read_text("utf-8") for folder in ("", "de"))
    assert '<html lang="en">' in english
    assert '<html lang="de">' in other
    assert "Betriebe" in other
    for path in pages:
        links = [one for one in Seen((www / path).read_text("utf-8")).elements if "hreflang" in one[1]]
        assert [(www / path.parent / one["href"]).is_file() for _, one in links] == [True]
    table = Path("firms/number/size-by-sex.html")
    assert "../../../firms/number/size-by-sex.html" in (www / "de" / table).read_text("utf-8")
    assert "https://agency.example/firms/de/firms/number/size-by-sex.html" in (www / "de" / table).read_text("utf-8")


def test_a_notebook_and_a_terminal_speak_german(spoken):
    release = sf.open(spoken, language="de")
    table = release.table("sex")
    assert str(table).startswith("Zahl der Betriebe nach Geschlecht")
    assert "Frauen" in table._repr_html_()
    assert 'lang="de"' in table._repr_html_()
    drawn = table.plot().svg
    assert "90 %-Konfidenzintervall" in drawn or "Konfidenzintervall" in drawn
    assert table.to_jsonstat()["label"].startswith("Zahl der Betriebe nach Geschlecht")
    assert [*table.to_jsonstat()["dimension"]["sex"]["category"]["index"]] == ["f", "m"]
    with pytest.raises(QueryError, match="There is no language 'xx'"):
        release.in_language("xx")
