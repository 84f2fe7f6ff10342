"""A hundred payloads in every text of a release and every parameter of an address: all of them are shown, none acts."""

from pathlib import Path
from urllib.parse import quote

import pytest
from tests.browser.hostile import PLAIN, hostile
from tests.browser.payloads import PAYLOADS
from tests.browser.tab import Tab
from tests.serve.conftest import _serving

# Every element by its name and the names of its attributes, and every attribute that could run, load or restyle.
MAKE = """() => {
    const made = new Set(), harmful = [];
    for (const one of document.querySelectorAll("*")) {
        // How wide a table is depends on its texts, and a script marks it.
        const names = one.getAttributeNames().filter((name) => name !== "data-wide" && name !== "data-more");
        made.add([one.localName, ...names.sort()].join(" "));
        for (const name of names) {
            const value = one.getAttribute(name).trim().toLowerCase();
            const address = ["href", "src", "action", "formaction", "xlink:href", "data"].includes(name);
            const foreign = /^[\\u0000-\\u0020]*([a-z][a-z0-9+.-]*:|\\/\\/)/.test(value);
            const leaves = address && foreign && !value.startsWith(location.origin);
            const acts = name.startsWith("on") || name === "style" || name === "srcdoc" || leaves;
            if (acts) harmful.push(`${one.localName} ${name}=${value}`);
        }
    }
    // Lines of a picture, marks of a search and of another language depend on the texts.
    const told = (one) => one.localName === "span" && one.getAttributeNames().join() === "lang";
    const count = [...document.querySelectorAll("*")].filter((one) => !one.closest("svg, mark") && !told(one)).length;
    return { made: [...made].sort(), harmful, count };
}"""
TABLE_PAGES = {
    "table": "?rows=every&cols=other",
    "long table": "?rows=every&rows=other",
    "sorted": "?rows=every&cols=other&sort=total&noise=on",
    "columns": "?rows=other&cols=every",
    "wrapped": "?rows=other&wrap=every",
    "detail": "?rows=every&cols=other&cell=c1|c0&hold=c2|c1",
    "dots": "?rows=every&cols=other&view=chart",
    "bars": "?rows=every&view=chart&chart=bar",
    "map": "?rows=every&view=map&own=c3,5",
    "shaded": "?rows=every&cols=other&of=c1&share=whole&view=map&map=areas",
    "pick": "/pick?rows=every&pick=valueCodes[every]",
    "found": "/pick?rows=every&pick=valueCodes[every]&find=c",
    "universe": "?rows=every&sum[other]=c0&lang=de",
    "embedded": "/embed?rows=every",
    "embedded chart": "/embed?rows=every&view=chart",
}
ALIKE = ("long table", "sorted", "columns", "wrapped", "dots", "found", "embedded chart")
"""Pages of tables whose parts stand on the others too; a slow test looks at them."""
FREE = ("own", "sort", "of", "cell", "hold", "lang", "find", "name", "group", "rows", "sum", "valueCodes", "table")


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """A real server over the hostile release and one over its plain twin, as on one page each text would be of both."""
    folder = tmp_path_factory.mktemp("hostile")
    bad, good = hostile(folder / "bad", PAYLOADS, "made"), hostile(folder / "good", PLAIN, "made")
    with _serving([bad]) as one, _serving([good]) as two:
        yield one, two


@pytest.fixture
def tabs(chromium, sites):
    """A tab on the hostile site and one on the plain site; the hostile one must have been quiet."""
    both = [Tab(chromium, str(site.base_url), trapped=True) for site in sites]
    yield both
    for tab in both:
        tab.page.context.close()
    assert [tab.wrong for tab in both] == [[], []]


def made(tab, address, status=200):
    return tab.open(address, status).evaluate(MAKE)


def assert_same_make(tabs, address):
    """The hostile page has no kind of element that the plain one lacks, as many of them, and nothing harmful."""
    bad, good = (made(tab, address) for tab in tabs)
    assert bad["harmful"] == good["harmful"] == [], address
    assert set(bad["made"]) <= set(good["made"]), address
    assert bad["count"] == good["count"], address


def test_labels_notes_and_titles_are_text_on_every_page(tabs):
    for name in TABLE_PAGES.keys() - set(ALIKE):
        assert_same_make(tabs, f"/made~every{TABLE_PAGES[name]}")
    for address in ("/", "/privacy/made", "/budget", "/help", "/api", "/series/made", "/help?table=made~codes"):
        assert_same_make(tabs, address)
    page = tabs[0].open("/made~every?rows=every")
    assert page.locator("tbody th").count() == len(PAYLOADS)
    shown = page.locator("tbody th").all_text_contents()
    assert all(text in label for text, label in zip(PAYLOADS, shown, strict=True)), "each is shown as it is written"


@pytest.mark.slow
def test_labels_notes_and_titles_are_text_on_pages_of_the_same_parts(tabs):
    for name in ALIKE:
        assert_same_make(tabs, f"/made~every{TABLE_PAGES[name]}")


@pytest.mark.parametrize("address", ["/made~every/shake?rows=every", "/find?q=c1", "/find?q=every"])
def test_labels_are_text_where_releases_differ_in_more_than_these(tabs, address):
    """Other draws are of their release, and finds depend on what is called so: nothing harmful is made of either."""
    bad, good = (made(tab, address) for tab in tabs)
    assert bad["harmful"] == good["harmful"] == []
    assert set(bad["made"]) <= set(good["made"])


@pytest.mark.parametrize(
    "tens", [0, 5, *(pytest.param(one, marks=pytest.mark.slow) for one in (1, 2, 3, 4, 6, 7, 8, 9))]
)
def test_labels_of_variables_are_text_on_every_page(tabs, tens):
    variables = [f"a{tens * 10 + one}" for one in range(10)]
    rows = f"?rows={variables[0]}&cols={variables[1]}&wrap={variables[2]}&cell=c0|c0|c0"
    assert_same_make(tabs, f"/made~labels{tens}{rows}")


def test_codes_are_text_on_every_page(tabs):
    for query in ("?rows=codes&cols=other", "/pick?rows=codes&pick=valueCodes[codes]", "?rows=codes&view=chart"):
        assert made(tabs[0], f"/made~codes{query}")["harmful"] == []
    page = tabs[0].open("/made~codes?rows=codes&cols=other")
    values = [one.get_attribute("value") for one in page.query_selector_all("tbody td:nth-of-type(1) > button.v")]
    assert [value.removesuffix("|").replace("%7C", "|").replace("%25", "%") for value in values] == list(PAYLOADS)


def parameters(payload, name):
    """An address with a payload in one parameter, and the page that it belongs to."""
    value, few = quote(payload, safe=""), "valueCodes[every]=c1,c2"
    if name in {"find", "name"}:
        step = "picked" if name == "name" else "pick"
        return f"/made~every/{step}?rows=every&pick=valueCodes[every]&c=c1&make=1&{name}={value}"
    named = {
        "table": f"/help?table={value}",
        "rows": f"/made~every?rows={value}",
        "group": f"/made~every?rows=every&cols=other&group[every]={value}:c1,c2&codelist[every]=groups",
        "own": f"/made~every?rows=every&{few}&view=map&own={value}",
        "of": f"/made~every?rows=every&{few}&cols=other&view=map&of={value}",
    }
    bracketed = f"{name}[every]" if name in {"sum", "valueCodes"} else name
    return named.get(name, f"/made~every?rows=every&cols=other&{few}&{bracketed}={value}")


def assert_harmless(tab, address, payload):
    reply = tab.page.goto(address, wait_until="domcontentloaded")
    assert reply.status in {200, 400}, (address, reply.status)
    found = tab.page.evaluate(MAKE)
    assert found["harmful"] == [], (address, payload)
    names = {one.split()[0] for one in found["made"]}
    assert not names & {"iframe", "object", "embed", "base", "img", "image", "video", "audio", "style", "math"}
    assert tab.page.locator("script").count() == 1


def test_what_stands_in_a_parameter_is_text(tabs):
    """Each parameter with a payload or two; the slow test puts all of them into all."""
    for place, payload in enumerate(PAYLOADS[::7]):
        assert_harmless(tabs[0], parameters(payload, FREE[place % len(FREE)]), payload)


@pytest.mark.slow
@pytest.mark.parametrize("name", FREE)
def test_every_payload_in_every_parameter_is_text(tabs, name):
    for payload in PAYLOADS:
        assert_harmless(tabs[0], parameters(payload, name), payload)


@pytest.mark.parametrize("query", ["rows=every&cols=other&view=chart", "rows=every&view=map&own=c3,5"])
def test_a_picture_that_is_opened_as_a_file_runs_nothing(chromium, sites, tmp_path, query):
    """From a file there is no policy to lean on: the picture itself must be harmless."""
    found = []
    for site, name in zip(sites, ("bad", "good"), strict=True):
        path = Path(tmp_path / f"{name}.svg")
        path.write_bytes(site.get(f"/made~every/picture.svg?{query}").content)
        tab = Tab(chromium, path.as_uri(), trapped=True)
        tab.page.goto(path.as_uri())
        found.append(tab.page.evaluate(MAKE))
        tab.page.context.close()
        assert tab.wrong == []
    assert found[0]["harmful"] == []
    assert set(found[0]["made"]) <= set(found[1]["made"])


def test_data_opened_in_the_browser_are_text(tabs):
    data = "/api/v2/tables/made~every"
    for address in (f"{data}/metadata", f"{data}/data?valueCodes[every]=*", "/api/v2/tables", "/api/v2/privacy/made"):
        assert made(tabs[0], address)["harmful"] == []
        assert tabs[0].page.locator("body > *").count() <= 2
        assert tabs[0].page.locator("img, script, svg, iframe").count() == 0


@pytest.mark.parametrize(
    "payload", [PAYLOADS[0], PAYLOADS[16], PAYLOADS[56], "<b style='x'>b</b>", "<p onfocus=x>p</p>"]
)
def test_a_payload_that_is_let_through_is_found(chromium, sites, payload):
    """The same page with a payload not as text but as it is: seen in its make, and heard as an error."""
    tab = Tab(chromium, str(sites[0].base_url), trapped=True)
    reply = sites[1].get("/made~every?rows=every")
    page = reply.text.replace("plain 42</span></th>", f"{payload}</span></th>")
    headers = {"content-type": "text/html", "content-security-policy": reply.headers["content-security-policy"]}
    before = made(tab, "/made~every?rows=every")
    tab.page.route("**/harmed", lambda route: route.fulfill(body=page, headers=headers))
    tab.page.goto("/harmed", wait_until="networkidle")
    found = tab.page.evaluate(MAKE)
    tab.page.context.close()
    assert found["harmful"] or not set(found["made"]) <= set(before["made"])
    assert found["count"] > before["count"]
