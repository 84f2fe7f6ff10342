"""A site of files: every link leads to a file of it, it needs no server, and its numbers are those of the release."""

import csv
import re
import shutil
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow.parquet as pq
import pytest
from tests.serve.conftest import HOURS, TRADES

from sfumato.errors import ReleaseError
from sfumato.serve.still import write_site

ADDRESS = "https://statistics.example/employment"


class Seen(HTMLParser):
    """The links, the ids and the elements of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links, self.ids, self.tags = list[str](), set[str](), set[str]()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.ids |= {given["id"]} if "id" in given else set()


@pytest.fixture(scope="module")
def site(release, tmp_path_factory):
    out = tmp_path_factory.mktemp("still") / "site"
    return out, write_site([release], out, ADDRESS)


def broken(folder: Path) -> list[tuple[str, str]]:
    """The links of a site that lead nowhere in it."""
    pages = {page.resolve(): Seen(page) for page in folder.rglob("*.html")}
    lost = []
    for page, seen in pages.items():
        for link in seen.links:
            parts = urlsplit(link)
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            inside = not parts.netloc and there.is_relative_to(folder.resolve()) and there.is_file()
            marks = pages[there].ids if there in pages else {unquote(parts.fragment)}
            if not inside or (parts.fragment and unquote(parts.fragment) not in marks):
                lost.append((page.name, link))
    return lost


def test_every_link_leads_to_a_file_of_the_site(site):
    folder, made = site
    assert not broken(folder)
    assert made.pages == len([*folder.rglob("*.html")])
    assert made.files == len([one for one in folder.rglob("*") if one.is_file() and one.suffix != ".html"])


def test_a_file_that_is_taken_away_is_missed(site, tmp_path):
    folder = shutil.copytree(site[0], tmp_path / "copy")
    next(folder.rglob("*.csv")).unlink()
    assert broken(folder)


def test_nothing_in_it_needs_a_server(site):
    for page in site[0].rglob("*.html"):
        assert not Seen(page).tags & {"script", "form", "button", "input", "select", "textarea"}, page
        assert "/api/" not in page.read_text("utf-8"), page


def test_columns_have_heads_though_nothing_sorts_by_them(site):
    (page,) = site[0].glob("*/jobs/trade-by-sex.html")
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page.read_text("utf-8"))
    assert len(heads) >= 4
    assert all(re.sub("<[^>]*>", "", head).strip() for head in heads)


def test_every_table_by_one_and_two_variables_is_there_and_listed(site):
    names = ("place", "sex", "age", "trade", "hours")
    for statistic in ("jobs", "pay"):
        pages = {page.stem: page for page in site[0].glob(f"*/{statistic}/*.html")}
        tables = {frozenset(stem.split("-by-")) for stem in pages if not stem.endswith(("-chart", "-map"))}
        assert tables == {frozenset(some) for count in (1, 2) for some in combinations(names, count)}
        listed = {link.removesuffix(".html") for link in Seen(pages["sex"]).links if link.endswith(".html")}
        assert tables <= {frozenset(stem.split("-by-")) for stem in listed}


def test_numbers_are_those_of_the_release(site, release):
    """Summed here from the cells of the release, by nothing of the product."""
    cells = pq.read_table(release / "products" / "jobs.parquet").column("value").to_numpy()
    by_trade = cells.reshape(-1, len(TRADES), len(HOURS)).sum(axis=(0, 2))
    (file,) = site[0].glob("*/jobs/trade.csv")
    rows = [*csv.DictReader(file.read_text("utf-8-sig").splitlines())]
    assert [float(row["estimate"]) for row in rows if row["trade"] in TRADES] == by_trade.tolist()


def test_the_released_files_are_in_it_and_verify(site):
    from sfumato.release import verify

    (copied,) = (site[0] / "releases").iterdir()
    assert verify(copied).problems == ()


def test_it_is_cited_by_where_it_lies(site):
    (file,) = site[0].glob("*/jobs/trade.html")
    page = file.read_text("utf-8")
    assert f"{ADDRESS}/{file.relative_to(site[0]).as_posix()}" in page
    assert not re.search(rf"{re.escape(ADDRESS)}/[^ <]*\?", page), "no address that a server would have to answer"


def test_what_is_not_for_publication_is_refused_and_nothing_is_left(rehearsal, tmp_path):
    with pytest.raises(ReleaseError, match="not for publication"):
        write_site([rehearsal], tmp_path / "site", ADDRESS)
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_is_there_is_not_written_over(release, tmp_path):
    (tmp_path / "site").mkdir()
    with pytest.raises(ReleaseError, match="there already"):
        write_site([release], tmp_path / "site", ADDRESS)
