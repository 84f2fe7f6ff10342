"""Texts that a plan says in another language, and its synonyms, are text on every page, whatever they hold."""

from html.parser import HTMLParser

import pytest
from tests.serve.small import SIZES, small
from tests.serve.test_languages import GERMAN_READER, PAGES

import sfumato as sf
from sfumato.release import Translation

PAYLOAD = "</title></text><script>alert(1)</script><img src=x onerror=alert(1)>\"'><a href=javascript:alert(1)>x"


class Elements(HTMLParser):
    """The elements of a page that do something, and links and attributes that would."""

    def __init__(self, text):
        super().__init__()
        self.acting = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        foreign = tag in {"script", "img"} and not (told.get("src") or "").startswith(("/", "data:"))
        if foreign or any(name.startswith("on") for name in told) or "javascript:" in (told.get("href") or ""):
            self.acting.append((tag, told))


def hostile(folder, payload):
    said = {"code": "f", "label": "Women", "label.de": f"Frauen {payload}", "note": "n", "note.de": payload}
    sexes = sf.Attribute(
        "sex",
        sf.Levels.of([said, {"code": "m", "label": "Men"}]),
        label="Sex",
        synonyms=sf.schema.Synonyms.of(
            [{"code": "f", "synonym": f"Ladies {payload}", "synonym.de": f"Damen {payload}"}]
        ),
    )
    german = Translation(
        title=f"Betriebe {payload}",
        labels={"size": payload, "sex": payload},
        titles={"Number of firms": f"Zahl {payload}"},
        units={"firm": payload, "firms": payload},
        sentences={"a register tells it": payload},
    )
    return small(folder, by=(SIZES, sexes), languages={"de": german})


@pytest.fixture(scope="module")
def pages(tmp_path_factory, browse):
    return browse([hostile(tmp_path_factory.mktemp("hostile") / "firms", PAYLOAD)])


@pytest.mark.parametrize("address", [*PAGES, "/find?q=damen", "/find?q=frauen", "/firms~number?rows=sex&cell=f"])
def test_translations_and_synonyms_are_text(pages, address):
    reply = pages.get(address, headers=GERMAN_READER)
    assert "<script>alert" not in reply.text
    assert "<img src=x" not in reply.text
    if "html" in reply.headers["content-type"] or "svg" in reply.headers["content-type"]:
        assert Elements(reply.text).acting == []


def test_they_are_there_and_an_acting_element_is_found(pages):
    """Else the test above would pass on pages without them."""
    shown = pages.get("/firms~number?rows=sex", headers=GERMAN_READER).text
    assert "Frauen &lt;/title&gt;" in shown
    assert Elements(f"<p>{PAYLOAD}</p>").acting
