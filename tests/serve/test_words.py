"""The words of the pages: every language says the same, all of it is used, and a German page speaks German."""

import ast
import html
import re
import tomllib
from functools import cache
from itertools import product
from pathlib import Path
from string import Formatter

import jinja2
import pytest
from jinja2 import nodes
from tests.serve.small import mapped, promised, small

import sfumato.query
import sfumato.serve
from sfumato.query.periods import SINCE
from sfumato.query.wording import FEW, grade_words, languages, words
from sfumato.release import open_release, withdraw
from sfumato.serve.pages.help import QUESTIONS
from sfumato.serve.pages.look import CHARTS, ERRORS, SHARES, VIEWS
from sfumato.serve.pages.promise import GROWING, JOINT, NEAR
from sfumato.serve.pages.promise import LISTED as LISTED_UNITS

SERVE = Path(sfumato.serve.__file__).parent
QUERY = Path(sfumato.query.__file__).parent
FILES = {"": SERVE / "words", "data": QUERY / "words"}
"""What the pages say, and what downloads say."""
OTHERS = sorted(code for code in languages() if code != "en")
LISTED = {"picture", "map_words", "drawn_parts"}
"""The groups that are handed on whole."""
SAME = {
    *("site.api", "site.budget", "error.cv_sign", "error.se_sign", "budget.share", "api.parameters"),
}
"""Names and signs, the only texts that two languages may share."""
SAME_DATA = {"language.name", "number.thousands", "number.decimal", "number.percent", "sheet.margin", "text.moe90"}
LONG = 25

_KINDS = ("published", "assumed_known", "invariant")
_COMPOSED = ("one", "add_approximate", "add_gaussian", "add_concentrated", "parts", "other_composed")
FORMS = {
    "adding": ("", "_not", "_exact"),
    "census": ("", "_sample"),
    "margin": ("", "_exact"),
    "withheld": ("", "_tables", "_exact"),
}
"""The other forms that an answer has."""
COMPOSED = {
    "site.*": (*VIEWS, "releases", "budget", "help", "api"),
    "chart.*": (*CHARTS, "dots", "areas"),
    "area.lead_*": ("inside", "cut"),
    "errors.*": ERRORS,
    "privacy.kind_*": _KINDS,
    "privacy.kind_*_words": _KINDS,
    "privacy.*_words": _COMPOSED,
    "privacy.*_root": (*NEAR, *LISTED_UNITS, *GROWING),
    "privacy.*_tables": JOINT,
    "privacy.*": (*NEAR, *LISTED_UNITS, *GROWING),
    "build.*": ("rows", "then", "columns", "wrap"),
    "build.share_*": tuple(one or "none" for one in SHARES),
    "build.change_*": SINCE,
    "table.changes_*": (*SINCE, "since"),
    "level.*": ("top", "step", "leaves", "all"),
    "detail.*": ("se_noise", "se_sampling", "se"),
    "help.**": tuple(
        f"{one}{more}{said}" for one, said in product(QUESTIONS, ("", "_words")) for more in FORMS.get(one, ("",))
    ),
}
"""Keys that are put together where they are used, and what may stand at each star."""


def read(code, kind=""):
    """The texts of a file by their keys."""
    tables = tomllib.loads((FILES[kind] / f"{code}.toml").read_text("utf-8"))
    return {f"{group}.{key}": text for group, texts in tables.items() for key, text in texts.items()}


def places(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def pieces(text):
    """What stands between the places of a text."""
    return [piece for piece, *_ in Formatter().parse(text)]


@cache
def written():
    """Every constant text of the Python files and templates, and every key put together, with stars in it."""
    constants, composed = set(), set()
    for file in [*SERVE.rglob("*.py"), *QUERY.rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                constants.add(node.value)
            if isinstance(node, ast.JoinedStr):
                composed.add("".join(getattr(one, "value", "*") if _constant(one) else "*" for one in node.values))
    for file in (SERVE / "templates").glob("*.html"):
        parsed = jinja2.Environment(autoescape=True).parse(file.read_text("utf-8"))
        constants |= {one.value for one in parsed.find_all(nodes.Const) if isinstance(one.value, str)}
        for one in parsed.find_all(nodes.Concat):
            composed.add("".join(str(part.value) if isinstance(part, nodes.Const) else "*" for part in one.nodes))
    return constants, composed


def _constant(node):
    return isinstance(node, ast.Constant)


def test_every_language_has_both_files():
    for folder in FILES.values():
        assert {one.name for one in folder.iterdir()} == {f"{code}.toml" for code in languages()}


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("kind", FILES)
def test_every_language_has_the_same_keys_with_the_same_places(code, kind):
    english, other = read("en", kind), read(code, kind)
    assert list(other) == list(english)
    assert {key for key in english if places(english[key]) != places(other[key])} == set()
    assert {key for key, text in other.items() if not text.strip()} == set()


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(("kind", "shared"), [("", SAME), ("data", SAME_DATA)])
def test_nothing_is_left_untranslated(code, kind, shared):
    english, other = read("en", kind), read(code, kind)
    same = {
        key for key, text in english.items() if other[key] == text and any(piece.strip(" ?") for piece in pieces(text))
    }
    assert same <= shared


def test_every_key_that_is_put_together_is_listed_here():
    groups = {key.partition(".")[0] for key in read("en")}
    _, composed = written()
    found = {
        one
        for one in composed
        if "*" in one and one.partition(".")[0] in groups and re.fullmatch(r"[a-z_]+\.[a-z_*]+", one)
    }
    assert found == set(COMPOSED)


def test_every_key_is_used_and_every_used_key_is_there():
    constants, _ = written()
    known = set(read("en"))
    made = {one.replace("**", "*").replace("*", value) for one, values in COMPOSED.items() for value in values}
    assert made <= known
    used = made | (constants & known) | {key for key in known if key.partition(".")[0] in LISTED}
    used |= {f"{key}{end}" for key in used for end in FEW.values()} & known
    assert known - used == set()
    groups = {key.partition(".")[0] for key in known}
    asked = {one for one in constants if re.fullmatch(r"[a-z_]+\.[a-z_0-9]*[a-z0-9]", one)}
    assert {one for one in asked if one.partition(".")[0] in groups and not one.endswith(".html")} <= known


def test_every_key_of_the_data_file_is_used():
    constants, _ = written()
    texts = tomllib.loads((FILES["data"] / "en.toml").read_text("utf-8"))
    for group in ("metric", "sheet", "about", "sentence"):
        assert [key for key in texts[group] if not {key, f"{group}.{key}"} & constants] == [], group


@pytest.mark.parametrize("code", sorted(languages()))
def test_texts_that_are_written_with_their_numbers_hold_no_sign_that_changes(code):
    """An error is put into its words before its signs are those of the language, so the words must hold none."""
    for text in words(code, "sfumato.serve").listed("error").values():
        assert not re.search(r"[.,%]", text), text


def test_german_numbers():
    """DIN 5008: a comma before decimals, a space before the sign of percent; points part the thousands."""
    german = words("de")
    assert german.figure("−1,234,567.8") == "−1.234.567,8"
    assert german.figure("12.5%") == "12,5\u00a0%"
    assert words("en").figure("−1,234,567.8%") == "−1,234,567.8%"
    assert "VK unter 12,5\u00a0%" in grade_words({"A": 0.125, "B": 0.3}, "de")["A"]
    assert "CV under 12.5%" in grade_words({"A": 0.125, "B": 0.3})["A"]


def test_german_texts_are_set_as_german_is():
    """Quotation marks „so“, a space before %, no point in a number that is not one of thousands."""
    for key, text in (read("de") | read("de", "data")).items():
        assert not re.search(r"[“”‘](?=\w|\{)|\"", text.replace("„", "")), key
        assert text.count("„") == text.count("“"), key
        assert not re.search(r"[\d}]%", text), key
        assert not re.search(r"\d\.\d", text.replace("JSON-stat 2.0", "")), key


@pytest.fixture(scope="module")
def shelf(tmp_path_factory, release, browse):
    """Every kind of release that a page says something else about."""
    folder = tmp_path_factory.mktemp("words")
    first = small(folder / "first", period="2026-Q1", created="2026-04-01T00:00:00Z")
    made = [
        release,
        first,
        small(folder / "again", period="2026-Q1", supersedes=open_release(first).id, largest_cv=0.02),
        small(folder / "pulled", period="2025-Q4"),
        small(
            folder / "medians", name="medians", additive=False, sampling={"kind": "withheld", "reason": "unpublished"}
        ),
        small(folder / "open", name="open", promise=promised({"unbounded": "cut"}, loss_words="unbounded: cut")),
        mapped(small(folder / "mapped", name="mapped")),
        small(folder / "trial", name="trial", rehearsal=True, releasable=False, why="rehearsal"),
        small(folder / "before", period="2025-Q3", more=9),
    ]
    withdraw(made[3], "One state was counted twice")
    return browse(made)


TABLE = "/jobs-survey~jobs"
STATES = [
    *(f"{TABLE}?rows=place&cols=sex&error={error}&share={share}" for error in ERRORS for share in SHARES),
    f"{TABLE}?rows=place&cols=sex&view=chart",
    f"{TABLE}?rows=sex&view=chart&chart=bar&share=whole",
    "/firms~number?rows=size&view=chart&chart=line",
    f"{TABLE}?rows=place&cols=sex&noise=on&zero=on&sort=female&cell=N|male&hold=S|male",
    f"{TABLE}?rows=trade&rows=sex&wrap=age&sum[place]=N&group[trade]=Mine:a,b",
    f"{TABLE}?rows=place&codelist[place]=all&cell=N&hold=N",
    "/firms~number?rows=size&cell=s",
    "/firms~number?rows=size&cols=sex&change=last&cell=s|f",
    "/firms~number?rows=size&cols=period&change=2025-Q3",
    "/firms~number?rows=size&change=last&view=chart",
    "/firms~number?rows=period&cols=sex&codelist[period]=all&cell=2025-Q3|f",
    "/mapped~number?rows=size&view=map",
    "/mapped~number?rows=size&cols=sex&view=map&map=areas&share=row&own=s,3",
    "/medians~number?rows=size&cols=sex&cell=s|f",
    "/open~number",
    "/trial~number",
    f"{TABLE}/pick?pick=valueCodes[place]&find=script",
    f"{TABLE}/pick?pick=valueCodes[place]&find=nothingatall",
    f"{TABLE}/pick?pick=sum[hours]&c=h01",
    *("/", "/budget", "/help", "/help?table=medians~number", "/api", "/series/firms"),
    *("/find?q=size", "/find?q=nothingatall", "/find?q=siez of frims"),
    *(f"/privacy/{name}" for name in ("jobs-survey", "firms", "firms.2025-Q4", "medians", "open", "trial")),
]
REFUSED = {"/nothing": 404, "/privacy/nothing": 404, "/series/nothing": 404, f"{TABLE}?rows=nothing": 400}


def german(client, address, status=200):
    reply = client.get(f"{address}{'&' if '?' in address else '?'}lang=de")
    assert reply.status_code == status, reply.text[:500]
    return reply.text


def english_in(shown):
    """The English texts, or long pieces of them, that stand on a page."""
    text = " ".join(html.unescape(shown).split())
    texts = [*read("en").values(), *read("en", "data").values()]
    return [one for text_ in texts for one in pieces(text_) if len(one.strip()) > LONG and one.strip() in text]


@pytest.mark.parametrize(("address", "status"), [*((one, 200) for one in STATES), *REFUSED.items()])
def test_a_german_page_is_german_throughout(shelf, address, status):
    shown = german(shelf, address, status)
    assert '<html lang="de">' in shown
    assert english_in(shown) == []
    assert words("de", "sfumato.serve")("site.skip") in shown


def test_the_search_for_english_finds_it(shelf):
    """The negative arm: the same pages in English are full of it."""
    for address in ("/", "/budget", "/help", "/api", TABLE, "/privacy/jobs-survey", "/nothing"):
        assert english_in(shelf.get(address).text), address


@pytest.mark.parametrize("address", [*STATES[:1], *STATES[-15:], *REFUSED])
def test_who_reads_german_stays_with_it(shelf, address):
    shown = german(shelf, address, REFUSED.get(address, 200))
    links = [html.unescape(one) for one in re.findall(r'<a [^>]*?href="([^"#][^"]*)"(?! hreflang)', shown)]
    pages = [one for one in links if not re.match(r"/(api/v2|openapi|static)", one)]
    assert pages
    assert [one for one in pages if "lang=de" not in one] == []


def test_a_refusal_is_german_on_a_german_page(shelf):
    shown = german(shelf, "/privacy/nothing", 404)
    assert '<p class="lead">Eine Veröffentlichung „nothing“ gibt es hier nicht' in shown
    assert "Diese Seite gibt es hier nicht" in shown
    assert '<p class="lead">No release' in shelf.get("/privacy/nothing").text


def test_a_language_that_is_not_there_is_answered_in_english(shelf):
    assert '<html lang="en">' in shelf.get("/nothing?lang=xx").text
    assert '<html lang="en">' in shelf.get("/?lang=xx").text
