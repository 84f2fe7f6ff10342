"""What is downloaded by a click is what stood on the page: the same cells, numbers, margins and grades."""

import csv
import io
import json
import math
import re
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from pyjstat import pyjstat
from tests.browser.pages import JOBS, SURVEY

ASKED = {
    "a census": (f"{JOBS}?rows=state&cols=sex&codelist[state]=leaves&sum[age]=16-24&sum[age]=25-44", ("state", "sex")),
    "a survey": (f"{SURVEY}?rows=occupation&cols=strength&sum[driving]=yes", ("occupation", "strength")),
    "groups": (f"{JOBS}?rows=state&cols=sex&group[state]=Both%20ends:west,northeast", ("state", "sex")),
}
SHOWN = re.compile(r"([+−]?[\d,.]+)\s*([kM]?)\s*±\s*([\d,.]+)\s*([BC]?)")
SCALES = {"": 0, "k": 3, "M": 6}


def seen(text):
    """Number, margin and grade of a cell as the page means them: k and M count, and no letter is an A."""
    number, scale, margin, grade = SHOWN.search(text).groups()
    if scale:
        plain = (Decimal(one.replace(",", "").replace("−", "-")).scaleb(SCALES[scale]) for one in (number, margin))
        number, margin = (f"{one:,f}".replace("-", "−") for one in plain)
    return number, margin, grade or "A"


def on_page(page):
    """Each cell of the table: its name, and number, margin and grade as a reader sees them."""
    cells = {one.get_attribute("value"): one.inner_text() for one in page.query_selector_all("tbody td > button.v")}
    return {code: seen(text) for code, text in cells.items() if not code.endswith("|")}


def download(page, selector):
    with page.expect_download() as awaited:
        page.click(selector)
    return Path(awaited.value.path())


def agrees(text, exact, margin, *, up=False):
    """Whether a number of a file, rounded to the digits that a reader sees, is the number that a reader sees.

    Those are its decimals; without any, the second digit of its margin, or ones. Margins are rounded up.
    """
    shown, reach = (float(one.replace(",", "").replace("−", "-")) for one in (text, margin))
    decimals = len(text.partition(".")[2])
    last = 10.0**-decimals if decimals else 10.0 ** max(math.floor(math.log10(reach)) - 1, 0)
    if up:
        return -1e-9 * last <= shown - float(exact) < last
    return abs(shown - float(exact)) <= 0.5 * last * (1 + 1e-9)


def differing(taken, shown):
    """The cells of a file that are not as on the page, and those that only one of the two has."""
    found = list(set(taken) ^ set(shown))
    for code in set(taken) & set(shown):
        (value, margin, grade), (number, plus_minus, letter) = taken[code], shown[code]
        same = agrees(number, value, plus_minus) and agrees(plus_minus, margin, plus_minus, up=True)
        if not (same and grade == letter):
            found.append((code, taken[code], shown[code]))
    return found


def tidy(records, names):
    return {"|".join(str(one[name]) for name in names): one for one in records}


def read_csv(path, names):
    lines = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
    return {code: (one["estimate"], one["moe90"], one["grade"]) for code, one in tidy(lines, names).items()}


def read_parquet(path, names):
    found = tidy(pq.read_table(path).to_pylist(), names)
    return {code: (one["estimate"], one["moe90"], one["grade"]) for code, one in found.items()}


def read_sheet(path, names):
    head, *rows = openpyxl.load_workbook(io.BytesIO(path.read_bytes()))["Tidy"].iter_rows(values_only=True)
    found = tidy([dict(zip(head, row, strict=True)) for row in rows], names)
    return {code: (one["estimate"], one["moe90"], one["grade"]) for code, one in found.items()}


def read_jsonstat(path, names):
    """By a reader that others wrote; grades stand in `status`, one for each number."""
    text = path.read_text()
    frame = pyjstat.Dataset.read(text).write("dataframe", naming="id")
    estimates, margins = (frame[frame["ContentsCode"] == name] for name in ("estimate", "moe90"))
    grades = [json.loads(text)["status"][str(place)] for place in estimates.index]
    codes = ["|".join(row) for row in estimates[list(names)].to_numpy()]
    return dict(zip(codes, zip(estimates["value"], margins["value"], grades, strict=True), strict=True))


def read_sdmx(path, names):
    lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    found = {}
    for line in lines:
        upper = {name.upper(): value for name, value in line.items()}
        found["|".join(upper[name.upper()] for name in names)] = upper["OBS_VALUE"], upper["MOE90"], upper["GRADE"]
    return found


READERS = {
    "csv": read_csv,
    "xlsx": read_sheet,
    "parquet": read_parquet,
    "json-stat2": read_jsonstat,
    "sdmx-csv": read_sdmx,
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyjstat", "ignore::FutureWarning:pyjstat")
@pytest.mark.parametrize("which", ASKED)
def test_every_file_holds_the_numbers_of_the_page(open_tab, which):
    address, names = ASKED[which]
    page = open_tab().open(address)
    shown = on_page(page)
    assert len(shown) >= 10
    for form, read in READERS.items():
        taken = read(download(page, f"a[href*='outputFormat={form}']"), names)
        assert differing(taken, shown) == [], form


def test_pictures_hold_the_numbers_of_the_table_beside_them(open_tab):
    address, names = ASKED["a survey"]
    page = open_tab().open(f"{address}&view=chart")
    shown = on_page(page)
    drawn = download(page, "a[href*='picture.svg']").read_text()
    texts = re.findall(r">(−?[\d,.]+ ± [\d,.]+)<", drawn)
    assert sorted(texts) == sorted(f"{value} ± {margin}" for value, margin, _ in shown.values())
    marks = json.loads(download(page, "a[href*='picture.json']").read_text())["data"]["values"]
    taken = {"|".join(one[name] for name in names): (one["estimate"], one["moe90"], one["grade"]) for one in marks}
    assert differing(taken, shown) == []
    png = download(page, "a[href*='picture.png']").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_number_that_is_off_by_one_would_be_seen():
    shown = {"a|b": ("1,234", "56.4", "A"), "c|d": ("−3", "8.3", "C")}
    assert differing({"a|b": (1234, 56.36, "A"), "c|d": (-3.4, 8.249, "C")}, shown) == []
    for wrong in ((1235, 56.36, "A"), (1234, 56.5, "A"), (1234, 56.29, "A"), (1234, 56.36, "B")):
        assert len(differing({"a|b": wrong, "c|d": (-3, 8.21, "C")}, shown)) == 1
    assert differing({"a|b": (1234, 56.36, "A")}, shown) == ["c|d"]
