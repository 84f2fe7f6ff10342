"""The pages: a real table with every error said aloud, nothing inline, nothing from elsewhere, no label that runs."""

import html
import re
from decimal import ROUND_CEILING, Context, Decimal
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode

import pytest

import sfumato as sf
from sfumato.confidential import Options
from sfumato.query.wording import words
from sfumato.release import withdraw

POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
TABLE = "/jobs-survey~jobs"
PICK = f"{TABLE}/pick?pick=valueCodes[place]&find=script"


class Parsed(HTMLParser):
    """A page as a browser reads it: its elements with their attributes, its text, and what its scripts say inline."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self.inline = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, text):
        (self.inline if self.elements and self.elements[-1][0] == "script" and text.strip() else self.words).append(
            text
        )

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def parsed(client, address, status=200):
    reply = client.get(address)
    assert reply.status_code == status, reply.text[:500]
    return Parsed(reply.text)


def as_seen(one):
    """A whole number and its margin, the margin up to two digits and the number to the last of them."""
    margin = Context(prec=2, rounding=ROUND_CEILING).create_decimal(f"{one.moe():.9g}")
    last = margin.adjusted() - 1
    step = Decimal(1).scaleb(max(last, 0))
    value = (Decimal(one.value) / step).to_integral_value() * step
    decimals = 0 if one.moe() == round(one.moe()) else max(-last, 0)
    return f"{int(value):,}".replace("-", "−"), f"{margin:,.{decimals}f}", one.grade


def printed(one):
    """A number, its margin, and its grade where that is B or C."""
    value, margin, grade = as_seen(one)
    return f"{value} ± {margin}" + (f" {grade}" if grade in "BC" else "")


def test_every_cell_has_its_error_and_is_read_aloud(page, engine):
    shown = parsed(page, TABLE)
    table = engine.table("place", "sex")
    estimates = [one for _, one in table.items()]
    cells = [one for one in shown.all("button") if one.get("name") == "cell"]
    assert len(cells) == len(shown.all("td")) == (len(table.axes[0].codes) + 1) * (len(table.axes[1].codes) + 1)
    spoken = [cell["aria-label"] for cell in cells]
    for one in estimates:
        value, margin, grade = as_seen(one)
        assert f"{value} jobs, plus or minus {margin}, grade {grade}" in spoken
        assert printed(one) in shown.text
    assert len(shown.all("caption")) == 1
    assert all(head["scope"] in {"col", "row", "rowgroup"} for head in shown.all("th"))
    region = next(one for one in shown.all("div") if one.get("class") == "scroll")
    assert (region["tabindex"], region["role"]) == ("0", "region")
    assert region["aria-label"]


@pytest.mark.parametrize("error", ["moe90", "se", "cv", "interval95"])
def test_form_gives_back_the_state_in_the_address(page, error):
    asked = [
        ("rows", "place"),
        ("rows", "sex"),
        ("cols", "age"),
        ("codelist[place]", "level1"),
        ("sum[trade]", "a,b"),
        ("error", error),
    ]
    shown = parsed(page, f"{TABLE}?{urlencode(asked)}")
    chosen = [one["value"] for one in shown.all("option") if "selected" in one]
    assert chosen == ["place", "level1", "sex", "age"]
    ticked = [one["value"] for one in shown.all("input") if "checked" in one]
    assert ticked == ["a", "b", error, ""]
    assert parse_qsl(canonical(shown).partition("?")[2]) == [pair for pair in asked if pair != ("error", "moe90")]
    assert "Only Trade <i>: a, b." in shown.text
    for link in shown.all("a"):
        if link["href"].startswith("/"):
            assert page.get(link["href"]).status_code == 200


def sent(shown, **pressed):
    """The pairs that a browser without a script sends when the form of a page is sent."""
    pairs, name = [], ""
    for tag, one in shown.elements:
        name = one.get("name", "") if tag == "select" else name
        if tag == "option" and "selected" in one:
            pairs.append((name, one["value"]))
        if tag == "input" and one.get("name") and (one["type"] not in {"checkbox", "radio"} or "checked" in one):
            pairs.append((one["name"], one.get("value", "")))
    return urlencode([*pairs, *pressed.items()])


def canonical(shown):
    return next(one["href"] for one in shown.all("link") if one["rel"] == "canonical")


STATES = [
    "rows=place&cols=sex&codelist[place]=all&zero=on&noise=on&share=row",
    "rows=place&cols=trade&valueCodes[place]=N,S1&valueCodes[place]=S,2&wrap=sex&error=se",
    "rows=place&codelist[place]=groups&group[place]=Mine:N1,S1&group[place]=Mine:S,2&sum[hours]=h01,h03&lang=de",
    "rows=trade&rows=sex&sum[place]=N1&sum[place]=S,2&error=cv",
    "rows=sex&cols=trade&sort=b&order=rising&hold=female|b",
]


@pytest.mark.parametrize("state", STATES)
def test_sending_the_form_unchanged_changes_nothing(page, state):
    shown = parsed(page, f"{TABLE}?{state}")
    assert canonical(parsed(page, f"{TABLE}?{sent(shown)}")) == canonical(shown)


def test_taking_a_choice_back_leaves_the_others(page):
    shown = parsed(
        page, f"{TABLE}?rows=place&cols=sex&valueCodes[place]=N,S&group[place]=Mine:N1,S1&sum[trade]=a&error=se"
    )
    chips = [one["href"] for one in shown.all("a") if one.get("class") == "remove"]
    left = [parse_qsl(address.partition("?")[2])[2:] for address in chips]
    picked, group, only, error = (
        ("valueCodes[place]", "N,S"),
        ("group[place]", "Mine:N1,S1"),
        ("sum[trade]", "a"),
        ("error", "se"),
    )
    assert left == [
        [("codelist[place]", "level0"), group, only, error],
        [picked, only, error],
        [picked, group, error],
    ]
    assert all(page.get(address).status_code == 200 for address in chips)


def test_sorting_goes_from_falling_to_rising_and_back(page):
    address, orders = f"{TABLE}?rows=trade&cols=sex", []
    for _ in range(4):
        shown = parsed(page, address)
        orders.append([one.get("aria-sort") for one in shown.all("th") if "aria-sort" in one])
        address = next(one["href"] for one in shown.all("a") if one.get("id") == "sort-1-2")
    assert orders == [[], ["descending"], ["ascending"], []]


def test_the_column_that_rows_are_sorted_by_is_marked_and_its_head_is_what_sorts(page):
    shown = page.get(f"{TABLE}?rows=trade&cols=sex&sort=female").text
    before = shown.partition("<thead>")[0].rpartition("</caption>")[2]
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', shown.partition("<thead>")[2].partition("</thead>")[0])
    marked = next(place for place, head in enumerate(heads) if ">female</a>" in head)
    assert before.strip() == f'<colgroup><col span="{marked}"><col class="by"></colgroup>'
    assert "<colgroup>" not in page.get(f"{TABLE}?rows=trade&cols=sex").text


def test_an_address_that_nothing_is_at_says_so(page):
    for address, said in (
        ("/embed/here", "the first page lists all tables"),
        ("/api/v2/nothing", "the page /api lists"),
    ):
        reply = page.get(address)
        assert (reply.status_code, said in reply.text, "Not Found" in reply.text) == (404, True, False)
    assert "aria-current" not in page.get("/embed/here").text, "no part of the site is this page"


def heads_of(shown, part="tbody"):
    """The labels at the side of each row."""
    inside = shown.partition(f"<{part}>")[2].partition(f"</{part}>")[0]
    return [
        unescape(re.sub(r"<[^>]*>", "", one)).strip() for one in re.findall(r'<th scope="row"[^>]*>(.*?)</th>', inside)
    ]


@pytest.mark.parametrize("order", ["falling", "rising"])
def test_percentages_are_sorted_and_ranked_by_themselves(page, engine, order):
    table = engine.table("trade", "sex")
    rising = order == "rising"
    shares = table.shares("row").sorted("female", rising=rising)
    shown = page.get(f"{TABLE}?rows=trade&cols=sex&share=row&sort=female&order={order}").text
    assert heads_of(shown) == [one.code for one in shares]
    ranks = [f"{one.ranks[0]}–{one.ranks[1]}".replace("1–1", "1") for one in shares]
    assert re.findall(r'<td class="rank">([^<]+)</td>', shown) == ranks


def test_totals_of_percentages_are_percentages(page, engine):
    """A total is 100% of its own row or column, else its part of the whole."""
    table, whole = engine.table("trade", "sex"), engine.total()
    female = engine.total({"sex": "female"}).value / whole.value
    first = engine.total({"trade": "a"}).value / whole.value

    def cells(share, part):
        shown = page.get(f"{TABLE}?rows=trade&cols=sex&share={share}").text
        inside = shown.partition(f"<{part}>")[2].partition(f"</{part}>")[0]
        return [float(one) for one in re.findall(r'<span class="n">([\d.]+)%', inside)]

    assert cells("row", "tfoot") == pytest.approx([100, 100 * female, 100 - 100 * female], abs=0.1)
    assert cells("column", "tfoot") == [100, 100, 100]
    assert cells("whole", "tfoot") == pytest.approx([100, 100 * female, 100 - 100 * female], abs=0.1)
    width = len(table.axes[1].codes) + 1
    assert set(cells("row", "tbody")[::width]) == {100}
    assert cells("column", "tbody")[0] == pytest.approx(100 * first, abs=0.1)
    assert cells("whole", "tbody")[0] == pytest.approx(100 * first, abs=0.1)
    links = page.get(f"{TABLE}?rows=trade&cols=sex&share=row").text
    assert "sort=total" not in links.partition("<thead>")[2].partition("</thead>")[0]


def test_a_total_of_more_than_is_shown_says_so(page):
    some = page.get(f"{TABLE}?rows=trade&cols=sex&valueCodes[trade]=a,b").text
    assert heads_of(some, "tfoot") == ["Total of all"]
    assert some.count("Total of all") == 1
    assert heads_of(page.get(f"{TABLE}?rows=trade&cols=sex").text, "tfoot") == ["Total"]
    held = page.get(f"{TABLE}?rows=trade&cols=sex&valueCodes[trade]=a,b&sum[trade]=a,b").text
    assert heads_of(held, "tfoot") == ["Total"]
    both = page.get(f"{TABLE}?rows=trade&cols=sex&valueCodes[sex]=male").text
    assert heads_of(both, "tfoot") == ["Total"]
    assert both.count("Total of all") >= 1


def test_an_order_by_a_column_that_is_gone_is_the_order_of_the_list(page):
    sorted_by_gone = parsed(page, f"{TABLE}?rows=trade&cols=age&sort=female")
    cells = [one["value"] for one in sorted_by_gone.all("button") if one.get("name") == "cell"]
    plain = parsed(page, f"{TABLE}?rows=trade&cols=age")
    assert cells == [one["value"] for one in plain.all("button") if one.get("name") == "cell"]


def test_the_layer_of_noise_is_said_and_not_only_coloured(page):
    shown = parsed(page, f"{TABLE}?rows=trade&noise=on")
    cells = [one for one in shown.all("button") if one.get("name") == "cell"]
    assert cells
    assert all("100% of the error variance is privacy noise" in one["aria-label"] for one in cells)
    assert all("100% of the error variance is privacy noise" in one["title"] for one in cells)
    assert "title" not in next(one for one in parsed(page, TABLE).all("button") if one.get("name") == "cell")


def test_columns_may_be_left_out(page, engine):
    shown = parsed(page, f"{TABLE}?rows=trade&cols=")
    assert len(shown.all("td")) == 9
    assert printed(engine.total()) in shown.text


def test_totals_are_the_same_question_with_the_variable_left_out(page, engine):
    shown = parsed(page, f"{TABLE}?rows=trade&cols=sex&sum[place]=N1")
    north = {"place": "N1"}
    for estimate in (
        engine.total(north),
        engine.total({**north, "sex": "male"}),
        engine.total({**north, "trade": "c"}),
    ):
        assert printed(estimate) in shown.text


@pytest.mark.parametrize("error", ["moe90", "se", "cv", "interval95"])
def test_pages_and_pictures_have_the_digits_that_errors_leave_and_details_have_all(page, engine, error):
    """The whole of pay is in the millions with an error of tens of thousands: its last digits say nothing."""
    whole = engine.total(of="pay")
    value, margin, _ = as_seen(whole)
    plain = f"{whole.value:,}"
    assert value != plain
    shown = parsed(page, f"/jobs-survey~pay?rows=sex&cols=&error={error}").text
    assert value in shown
    assert plain not in shown
    if error == "moe90":
        assert f"{value} ± {margin}" in shown
    detail = parsed(page, "/jobs-survey~pay?rows=sex&cols=&cell=").text
    assert plain not in detail
    opened = page.get("/jobs-survey~pay?rows=sex&cols=age&cell=|").text
    assert plain in opened.partition('id="detail"')[2]
    female = engine.total({"sex": "female"}, of="pay")
    drawn = page.get("/jobs-survey~pay?rows=sex&cols=&view=chart").text
    assert "female: {} ± {}, ".format(*as_seen(female)) in drawn
    data = page.get("/api/v2/tables/jobs-survey~pay/data?valueCodes[sex]=*").json()
    assert female.value in data["value"]


def test_unknown_choices_are_named_on_the_page(page):
    shown = parsed(page, f"{TABLE}?rows=plase", 400)
    assert "'plase' is not a variable of number of jobs; did you mean 'place'?" in shown.text
    assert "stands in the rows and in the columns" in parsed(page, f"{TABLE}?rows=sex&cols=sex", 400).text
    assert "This page is not here" in parsed(page, "/nothing~here", 404).text


def test_a_parameter_that_means_nothing_is_named_and_changes_nothing(page):
    said = "This address has parts that mean nothing here, so they changed nothing:"
    shown = parsed(page, f"{TABLE}?rows=sex&fbclid=x&sotr=total&sotr=1")
    assert f"{said} fbclid, sotr (sort?)." in shown.text
    assert len(shown.all("table")) == 1
    for address in ("/", "/budget", f"/help?table={TABLE[1:]}", "/api", "/series/jobs-survey", "/privacy/jobs-survey"):
        assert said not in parsed(page, address).text
        assert f"{said} colour." in parsed(page, f"{address}{'&' if '?' in address else '?'}colour=red").text
    assert f"{said} lang." in parsed(page, "/?lang=xx").text
    assert said not in parsed(page, f"{TABLE}?rows=sex&SORT=total&valueCodes[sex]=male").text
    parsed(page, f"{TABLE}?rows=sex&codelist[nowhere]=level0", 400)
    reply = page.get(f"{TABLE}/picture.svg?rows=sex&view=chart&sotr=total")
    assert reply.status_code == 400
    assert "sotr (sort?)" in reply.text


def test_numbers_of_a_reader_are_refused_where_they_are_too_many_and_never_cut(page):
    reply = page.get(f"{TABLE}?rows=sex&view=map&own={'1' * 20_001}")
    assert reply.status_code == 400
    assert "20,001 characters" in reply.text


def test_privacy_is_told_in_plain_words(page, engine):
    text = parsed(page, TABLE).text
    promise = engine.release.manifest.promise
    assert promise.words in text
    assert "at best 37 times in 100, where a blind guess is right 5 times" in text
    assert "Together epsilon 2" in text
    assert "jobs: epsilon 1, by geometric (epsilon 1)" in text
    assert "Assumed known: Where places are. A map shows it." in text
    assert engine.release.id in text
    manifest = engine.release.manifest
    assert f"{manifest.title}, {manifest.period}. Release jobs-survey.{engine.release.id[:12]}" in text


PAGES = ["/", TABLE, f"{TABLE}?rows=place&cols=trade&codelist[place]=all&error=cv", f"{TABLE}?rows=x", "/nothing"]
PAGES += [f"{TABLE}/pick?pick=valueCodes[place]", f"{TABLE}/picked?pick=valueCodes[place]&ticked=1"]


@pytest.mark.parametrize("address", PAGES)
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(page, address):
    reply = page.get(address)
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in reply.headers
    assert not Parsed(reply.text).inline
    for tag, attributes in Parsed(reply.text).elements:
        assert tag not in {"style", "iframe", "object", "embed", "base", "img"}
        assert tag != "script" or "src" in attributes
        for name, value in attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in {"href", "src", "action"}:
                assert value.startswith(("/", "#", "?")), value
                assert not value.startswith("//")


def test_every_reply_carries_the_policy(page):
    for address in ("/api/v2/tables", "/health", "/static/sfumato.css", "/api/v2/nothing", "/openapi.json"):
        assert page.get(address).headers["content-security-policy"] == POLICY


def test_hostile_labels_are_only_text(page, hostile):
    for address in (f"{TABLE}?rows=place&codelist[place]=all", f"{TABLE}?rows=sex&sum[place]=N10", "/", PICK):
        reply = page.get(address)
        assert "<script>" not in reply.text
        assert "<b>hills" not in reply.text
        assert "<survey>" not in reply.text
        assert "onerror=alert" not in " ".join(name for _, one in Parsed(reply.text).elements for name in one)
    shown = parsed(page, f"{TABLE}?rows=place&codelist[place]=leaves")
    for label in hostile:
        assert " ".join(label.split()) in shown.text


def test_what_is_typed_comes_back_only_as_text(page):
    for typed in ("<script>alert(1)</script>", '"onload="x', "{{7*7}}", "%00", "\u202e"):
        for name in ("rows", "error", "sum[place]", "codelist[place]", f"sum[{typed}]"):
            reply = page.get(f"{TABLE}?{urlencode({name: typed})}")
            assert reply.status_code == 400
            assert "<script>" not in reply.text
            assert "49" not in Parsed(reply.text).text.split("cannot be shown")[1][:200]


def test_says_when_a_release_is_withdrawn_replaced_or_not_for_publication(bench, release, rehearsal, browse):
    old = bench.copy(release, "withdrawn")
    withdraw(old, "A <b>file</b> was counted twice")
    new = bench.release("newer", Options(supersedes=sf.open(release).release.id))
    one = browse([old])
    for address in ("/", TABLE, f"{TABLE}?rows=x"):
        text = Parsed(one.get(address).text).text
        assert "Withdrawn: A <b>file</b> was counted twice." in text
    assert "Withdrawn: A <b>file</b>" in one.get(f"/api/v2/tables{TABLE}/data").json()["note"][0]
    assert "Withdrawn: A <b>file</b>" in one.get(f"/api/v2/tables{TABLE}/data?outputFormat=csv").text
    assert one.get("/api/v2/tables").json()["tables"] == []
    assert len(one.get("/api/v2/tables?includeDiscontinued=true").json()["tables"]) == 2

    both = browse([release, new])
    lasting = f"/jobs-survey.{sf.open(release).release.id[:12]}~jobs"
    assert "Superseded: a newer release took its place" in parsed(both, lasting).text
    assert not any(one.get("class") == "notice" for one in parsed(both, TABLE).all("div"))
    assert sf.open(new).release.id in parsed(both, TABLE).text

    trial = browse([rehearsal, release])
    assert sf.open(release).release.id in parsed(trial, TABLE).text
    lasting = f"/jobs-survey.{sf.open(rehearsal).release.id[:12]}~jobs"
    assert "Not for publication: rehearsal" in parsed(trial, lasting).text


def test_lives_below_a_path(release, browse):
    under = browse([release], "/statistics")
    for prefix in ("/statistics", ""):
        shown = parsed(under, f"{prefix}{TABLE}")
        search, build = shown.all("form")[:2]
        assert (search["action"], build["action"]) == ("/statistics/find", f"/statistics{TABLE}")
        for link in [*shown.all("a"), *shown.all("link")]:
            assert link["href"].startswith(("/statistics/", "#"))
            assert under.get(link["href"]).status_code == 200
    assert under.get("/statistics/api/v2/nothing").headers["content-type"] == "application/problem+json"
    with pytest.raises(sf.ReleaseError, match="base path"):
        browse([release], "http://elsewhere")


SHARED = f"{TABLE}?rows=place&cols=sex&share="


@pytest.mark.parametrize(("share", "wholes"), [("row", ("place",)), ("column", ("sex",)), ("whole", ())])
def test_the_detail_of_a_percentage_is_of_the_percentage(page, engine, share, wholes):
    figure = engine.table("place", "sex").shares(wholes)["N", "female"]
    told = page.get(f"{SHARED}{share}&cell=N|female").text.partition('id="detail"')[2].partition("</section>")[0]
    number = re.search(r'<span class="n">([\d.]+)%</span> <span class="moe">±\s([\d.]+)</span>', told)
    assert float(number[1]) == pytest.approx(100 * figure.value, abs=0.01)
    assert 100 * figure.moe(0.90) <= float(number[2]) <= 100 * figure.moe(0.90) * 1.01
    assert f"{engine.total({'place': 'N', 'sex': 'female'}).value:,} ±\u00a0" in told, "no line ends after the sign"
    assert re.search(r"[\d.]+ percentage points in 90 of 100 cells", told)


def test_percentages_are_compared_as_percentages_and_never_as_counts(page, engine):
    """The held cell minus the other, in points; the same pair of counts differs the other way or by thousands."""
    told = page.get(f"{SHARED}row&hold=N|female&cell=S|female").text.partition("compared")[2].partition("</div>\n<p")[0]
    difference = engine.table("place", "sex").shares("row").compare(("N", "female"), ("S", "female"))
    low, high = (100 * end for end in difference.interval(0.90))
    said = re.search(r"between (−?)([\d.]+) and (−?)([\d.]+) percentage points", told)
    assert [float(sign.replace("−", "-") + end) for sign, end in (said.groups()[:2], said.groups()[2:])] == [
        pytest.approx(low, abs=0.1),
        pytest.approx(high, abs=0.1),
    ]
    assert "jobs" not in told
    counts = page.get(f"{TABLE}?rows=place&cols=sex&hold=N|female&cell=S|female").text
    assert "percentage points" not in counts


def test_a_panel_splits_no_error_where_everybody_was_counted_and_draws_how_far_it_reaches(page, engine):
    told = (
        page.get(f"{TABLE}?rows=place&cols=sex&cell=N|female")
        .text.partition('id="detail"')[2]
        .partition("</section>")[0]
    )
    assert "Standard error by privacy noise" in told
    assert "sampling" not in told
    assert 'class="split"' not in told
    low, high = engine.total({"place": "N", "sex": "female"}).interval(0.90)
    drawn = re.search(r'<figure class="reach"><svg [^>]*aria-label="90% interval: ([\d,−]+) to ([\d,−]+)"', told)
    ends = [float(end.replace(",", "").replace("−", "-")) for end in drawn.groups()]
    assert ends[0] <= low < high <= ends[1], "rounded outward"


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("rows=trade&cols=age&cell=c,female", {"f-axis-1": "trade", "f-axis-3": "age"}),
        ("rows=trade&view=lines", {"f-axis-1": "trade", "f-axis-3": ""}),
        ("rows=age&cols=trade&codelist[trade]=level7", {"f-axis-1": "age", "f-axis-3": "trade"}),
        ("rows=age&cols=trade&wrap=nothing", {"f-axis-1": "place"}),
    ],
)
def test_where_a_table_cannot_be_shown_the_form_still_has_what_the_address_says(page, asked, chosen):
    shown = page.get(f"{TABLE}?{asked}&lang=de")
    assert shown.status_code == 400
    assert '<html lang="de"' in shown.text
    for name, value in chosen.items():
        field = shown.text.partition(f'id="{name}"')[2].partition("</select>")[0]
        assert re.findall(r'<option value="([^"]*)" selected', field) == ([value] if value else [])


def headline_of(shown):
    """The claim and its numbers as one sentence."""
    return re.sub(r"<[^>]*>", "", shown.partition('<p class="headline">')[2].partition("</p>")[0])


def test_a_page_its_chart_and_its_file_say_first_what_was_found(page, engine):
    """In both languages, of totals and of the column that rows are sorted by; the picture's title names the rest."""
    totals, asked = engine.table("place"), f"{TABLE}?rows=place&cols=sex"
    for lang in ("en", "de"):
        said = html.escape(totals.headline().said(words(lang)))
        assert said == headline_of(page.get(f"{asked}&lang={lang}").text)
        assert f'aria-label="{said} ' in page.get(f"{asked}&view=chart&lang={lang}").text
    sexes = engine.table("place", "sex")
    code = sexes.axes[1].codes[0]
    column = html.escape(sexes.headline(code).said(words("en")))
    assert column == headline_of(page.get(f"{asked}&sort={code}").text)
    drawn = page.get(f"{TABLE}/picture.svg?rows=place&view=chart&share=whole&sum[sex]={code}").text
    for name in ("Percentages of the whole (jobs)", f"only {sexes.axes[1].attribute.label}: ", "2026-Q1"):
        assert html.escape(name) in drawn


def test_two_row_variables_or_several_tables_have_no_largest_row(page):
    assert 'class="headline"' not in page.get(f"{TABLE}?rows=place&rows=sex").text
    assert 'class="headline"' not in page.get(f"{TABLE}?rows=sex&wrap=place").text


def test_codes_of_a_variable_that_is_not_laid_out_change_nothing_and_the_page_says_so(page):
    """A reader who writes valueCodes for a universe is told; sum[…] is what holds a table to codes."""
    plain = unescape(page.get("/jobs-survey~jobs?rows=place").text)
    told = unescape(page.get("/jobs-survey~jobs?rows=place&valueCodes[sex]=female&group[age]=old:50%2B").text)
    said = "This address has parts that mean nothing here, so they changed nothing: valueCodes[sex], group[age]."
    assert said in told
    assert "mean nothing here" not in plain
    assert re.findall(r"<tbody>.*?</tbody>", plain, re.DOTALL) == re.findall(r"<tbody>.*?</tbody>", told, re.DOTALL)
    laid = unescape(page.get("/jobs-survey~jobs?rows=place&cols=sex&valueCodes[sex]=female").text)
    assert "mean nothing here" not in laid


def test_styles_and_scripts_travel_without_their_comments_and_with_all_else(page, source):
    """A comment of several lines ends in the first line that closes it; a script has none beside code but casts."""
    for file in sorted((source / "serve" / "static").glob("*.js")):
        kept, inside = [], False
        for line in file.read_text("utf-8").splitlines():
            begins = line.strip().startswith("/*") and (line.rstrip().endswith("*/") or "*/" not in line)
            if not (inside or begins or line.strip().startswith("//")):
                kept.append(line)
            inside = (inside or begins) and "*/" not in line
        assert page.get(f"/static/{file.name}").text.splitlines() == kept, file.name
    for file in (source / "serve" / "static").glob("*.css"):
        own, sent = file.read_text("utf-8"), page.get(f"/static/{file.name}").text
        assert "/*" not in sent
        first, *others = own.split("/*")
        code = first + "".join(one.partition("*/")[2] for one in others)
        assert sent.split() == code.split(), file.name
