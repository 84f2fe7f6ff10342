"""Drawings are safe to show, heard by those who cannot see them, and look right with a style sheet or without."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.pictures.conftest import SPACE, Drawn, mark

import sfumato.serve
from sfumato.errors import QueryError
from sfumato.pictures import KINDS, BudgetShare, Caption, Mark, PictureWords, budget, power_curve
from sfumato.pictures.look import LOOK

CURVE = [(0.0, 0.0), (0.05, 0.26), (0.5, 0.84), (1.0, 1.0)]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onload='alert(1)",
    "]]><svg onload=alert(1)>",
    "&lt;b&gt; &amp; &#x3c;",
    "\x00\x08\x1b\x7f\ud800\uffff",
    "<!--<![CDATA[",
    "</text><style>*{display:none}</style>",
]


def drawn_with(words: str) -> list[Drawn]:
    """Every kind of picture with some words wherever words can stand."""
    caption = Caption(words, words, source=words, banner=words, words=PictureWords(interval=words, withheld=words))
    said = {"withheld": words, "shown": words, "code": words}
    marks = [
        Mark(words, 1, 0, 2, words, 0.5, words, href=f"?q={words}", **said),
        Mark(words, 1, None, None, "-", None, "other", **said),
    ]
    pictures = [draw(marks, caption) for draw in KINDS.values()]
    pictures.append(budget([BudgetShare(words, 1, words)], 2, caption, left=words))
    pictures.append(power_curve(CURVE, CURVE[1], caption))
    return [Drawn(picture) for picture in pictures]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words):
    allowed = {"svg", "g", "a", "text", "title", "desc", "rect", "line", "circle", "ellipse", "polygon", "polyline"}
    for drawn in drawn_with(words):
        tags = {one.tag.removeprefix(SPACE) for one in drawn.root.iter()}
        assert tags <= allowed
        assert not any(name.startswith("on") or name == "style" for one in drawn.root.iter() for name in one.attrib)


def test_pictures_hold_no_style_no_script_and_nothing_from_elsewhere():
    for drawn in drawn_with("jobs"):
        text = drawn.picture.svg
        assert not re.search(r"style=|<style|<script|url\(|https?:|@import|xlink|<image|<use|\bid=", text)


@pytest.mark.parametrize(
    "href",
    ["javascript:alert(1)", " JavaScript:alert(1)", "https://elsewhere.example/", "//elsewhere.example", "data:x"],
)
def test_a_mark_leads_nowhere_off_the_site(href):
    with pytest.raises(QueryError, match="same site"):
        KINDS["dot"]([Mark("a", 1, 0, 2, href=href)], Caption("t"))


def test_a_picture_is_heard_as_its_title_and_every_number_with_its_error(caption):
    drawn = Drawn(KINDS["dot"]([mark("nurses", 310, 76, "B"), mark("roofers", -4, 50, "C")], caption))
    assert drawn.root.get("role") == "img"
    assert drawn.root.get("aria-label") == "Jobs by occupation"
    heard = drawn.root.find(SPACE + "desc").text
    for one in ("nurses: 310, 90% interval 234 to 386, grade B", "roofers: −4, 90% interval −54 to 46, grade C"):
        assert one in heard
        assert one in drawn.picture.told
        assert one in drawn.picture._repr_html_()


def test_a_picture_with_links_is_a_group_so_that_they_can_be_reached(caption):
    drawn = Drawn(KINDS["dot"]([mark("nurses", 310, 76, href="?cell=29-1141")], caption))
    assert drawn.root.get("role") == "group"
    (link,) = drawn.all("a", "mark")
    assert (link.get("href"), "nurses" in link.get("aria-label")) == ("?cell=29-1141", True)


def test_a_banner_lies_across_every_picture_and_is_read_in_full():
    banner = "NOT TO BE PUBLISHED: a rehearsal on synthetic data."
    for drawn in drawn_with("x"):
        assert len(drawn.all("text", "banner")) >= 1
    for kind in KINDS:
        drawn = Drawn(KINDS[kind]([mark(f"{row}", row, 1) for row in range(40)], Caption("t", banner=banner)))
        across = drawn.all("text", "banner")
        assert {one.text for one in across} == {"NOT TO BE PUBLISHED"}
        assert drawn.root.find(SPACE + "desc").text.startswith(banner)
        assert banner in " ".join(one.text for one in drawn.all("text", "notice"))
    assert not Drawn(KINDS["dot"]([mark("a", 1, 1)], Caption("t"))).all("text", "banner")


def test_long_labels_are_cut_where_they_show_and_whole_where_they_are_pointed_at(caption):
    long = "Heavy and tractor-trailer truck drivers, long-haul, " * 5
    drawn = Drawn(KINDS["dot"]([mark(long, 1, 1)], caption))
    assert any(text.endswith("…") for text in drawn.texts())
    assert any(title.text == long for title in drawn.root.iter(SPACE + "title"))


def test_the_page_has_a_rule_for_every_colour_that_the_attributes_have():
    sheet = (Path(sfumato.serve.__file__).parent / "static" / "pictures.css").read_text()
    ruled = {}
    for names, rules in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        for name in re.findall(r"\.pic-(\w+)\s*(?:,|$)", names.strip()):
            ruled.setdefault(name, set()).update(re.findall(r"(fill|stroke):", rules))
    fixed = {"over"}  # ink on ochre, which is light in the dark too
    for name, attributes in LOOK.items():
        coloured = {channel for channel in ("fill", "stroke") if attributes.get(channel, "none") != "none"}
        assert name in fixed or name.startswith("map-") or coloured <= ruled.get(name, set()), name


def test_the_standalone_file_is_a_picture_to_any_xml_reader(tmp_path, caption):
    picture = KINDS["bar"]([mark("a & b", 1, 1)], caption)
    root = ET.parse(picture.save(tmp_path / "jobs.svg")).getroot()
    assert root.tag == SPACE + "svg"
    with pytest.raises(QueryError, match=r"\.svg, \.png or \.json"):
        picture.save(tmp_path / "jobs.pdf")
