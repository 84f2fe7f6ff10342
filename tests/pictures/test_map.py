"""A map shows every number with its error, by more than colour, and holds nothing that a strict page would refuse."""

import itertools
import json
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import sfumato.serve
from sfumato.errors import QueryError
from sfumato.pictures.classes import Classes, classes_of
from sfumato.pictures.look import CARD, SHADES
from sfumato.pictures.map import map_of
from sfumato.pictures.map_sheet import MapStyle
from sfumato.pictures.mark import Caption, Mark
from sfumato.pictures.overlay import overlay

SVG = "{http://www.w3.org/2000/svg}"
CODES = ("a", "b", "c", "d", "e", "f")


@dataclass(frozen=True)
class Squares:
    """Six squares in a row."""

    width: int = 600
    height: int = 100
    outlines: dict = field(
        default_factory=lambda: {
            c: f"M{x} 0 {x + 100} 0 {x + 100} 100 {x} 100Z" for x, c in zip(range(0, 600, 100), CODES, strict=False)
        }
    )
    places: dict = field(
        default_factory=lambda: {c: (x + 50, 50) for x, c in zip(range(0, 600, 100), CODES, strict=False)}
    )
    source: str = "six squares"
    projection: str = "as in the file"


def mark(code, value, grade="A", **more):
    made = {"label": f"Area {code}", "low": value - 5, "high": value + 5, "shown": f"{value:g} ± 5"} | more
    return Mark(made.pop("label"), value, made.pop("low"), made.pop("high"), grade, code=code, **made)


def drawn(marks, title="Jobs by place", **style):
    return map_of(Squares(), marks, Caption(title, axis="jobs"), MapStyle(**style))


def parsed(picture):
    return ET.fromstring(picture.to_svg())


def areas(picture):
    """The path of each area by the square it draws, less the patterns over it."""
    paths = [
        one for one in parsed(picture).iter(f"{SVG}path") if "pic-map" in one.get("class", "") and one.get("fill-rule")
    ]
    return {one.get("d").split(" ")[0][1:]: one.get("class") for one in paths}


ALL = [mark(code, 20 * place) for place, code in enumerate(CODES, start=1)]


@pytest.mark.parametrize("kind", ["areas", "dots"])
def test_every_number_is_said_with_its_error_on_its_area_and_in_the_list(kind):
    picture = drawn(ALL, kind=kind)
    titles = [one.text for one in parsed(picture).iter(f"{SVG}title")]
    for one in ALL:
        said = [title for title in titles if title.startswith(one.label)]
        assert said
        assert all("interval" in title and "grade A" in title for title in said)
        assert any(line.startswith(one.label) for line in picture.told)


@pytest.mark.parametrize("kind", ["areas", "dots"])
def test_labels_are_text_and_nothing_a_strict_page_refuses_is_drawn(kind):
    bad = '"><script>alert(1)</script><a href="javascript:x'
    marks = [mark("a", 5, label=bad), *ALL[1:]]
    own = overlay(f'code,"{bad.replace(chr(34), chr(34) * 2)}"\nb,3', CODES)
    picture = drawn(marks, title=bad, kind=kind, overlay=own, missing={"f": bad}, blank={"f": bad})
    tree = parsed(picture)
    assert not [
        one for one in tree.iter() if one.tag.removeprefix(SVG) in {"script", "style", "image", "use", "foreignObject"}
    ]
    assert not [key for one in tree.iter() for key in one.attrib if key == "style" or key.startswith("on")]
    assert not [one for one in tree.iter() if "javascript" in (one.get("href") or "")]
    assert set(re.findall(r"url\(([^)]*)\)", picture.svg)) <= {
        f"#{one.get('id')}" for one in tree.iter(f"{SVG}pattern")
    }


def test_classes_shade_from_little_to_much_and_the_legend_says_their_borders():
    """Intervals ± 5 that lie 12 apart part into five classes; a border between two is the roundest number there."""
    apart = [mark(code, 12 * place) for place, code in enumerate(CODES, start=1)]
    shaded = areas(drawn(apart))
    shades = [int(shaded[f"{x}"].split()[0][-1]) for x in range(0, 600, 100)]
    assert shades == sorted(shades)
    assert set(shades) == {1, 2, 3, 4, 5}
    text = " ".join(one.text or "" for one in parsed(drawn(apart)).iter(f"{SVG}text"))
    assert re.search(r"under \d+ .*\d+ to \d+ .*\d+ and more", text)


def test_areas_that_cannot_be_told_apart_have_one_shade():
    """47% and 47.5% under ± 4.5 are the same colour, and the legend says why there is one."""
    alike = [mark("a", 0.47, low=0.425, high=0.515), mark("b", 0.475, low=0.43, high=0.52)]
    picture = drawn(alike)
    assert set(areas(picture).values()) == {"pic-map-3 pic-map-line"}
    assert "at 90% for all together, no two can be told apart" in picture.svg
    exact = drawn([replace(one, low=one.value, high=one.value) for one in alike])
    assert len(set(areas(exact).values())) == 2


def test_shades_are_told_apart_by_intervals_that_hold_for_all_at_once():
    """By their own intervals a and b lie apart; an area without a joint interval may lie in any class."""
    own = [mark("a", 10), mark("b", 30), mark("c", 80), mark("d", 81)]
    assert len(set(areas(drawn(own)).values())) == 3
    joint = [(0, 22), (18, 42), (70, 90), (-math.inf, math.inf)]
    picture = drawn([replace(one, joint=ends) for one, ends in zip(own, joint, strict=True)])
    shades = areas(picture)
    assert shades["0"] == shades["100"] != shades["200"]
    assert shades["300"] == "pic-map-ground"


def test_an_area_whose_interval_reaches_over_a_border_has_no_shade():
    marks = [mark("a", 10), mark("b", 11), mark("c", 40), mark("d", 41), mark("e", 25, low=12, high=38)]
    picture = drawn(marks)
    assert areas(picture)["400"] == "pic-map-ground"
    assert len(over(picture, "stripes")) == 1
    assert "it may lie in another class" in picture.svg
    shaded = {
        one["properties"]["code"]: one["properties"]["shaded"]
        for one in json.loads(picture.to_vega())["data"]["values"]
    }
    assert shaded == {"a": True, "b": True, "c": True, "d": True, "e": False}


def over(picture, name):
    return [one for one in parsed(picture).iter(f"{SVG}path") if name in (one.get("fill") or "")]


def test_grade_c_is_hatched_a_withheld_error_has_specks_and_a_missing_number_is_crossed():
    assert not over(drawn(ALL), "url(")
    marks = [mark("a", 1, "C"), mark("b", 2, "-", low=None, high=None, withheld="it would leak"), mark("c", 3)]
    picture = drawn(marks, missing={"d": "Area d: withheld, it would leak"}, blank={"e": "Area e"})
    assert [len(over(picture, name)) for name in ("hatch", "specks", "crosses")] == [1, 1, 1]
    words = " ".join(one.text or "" for one in parsed(picture).iter(f"{SVG}text"))
    for said in ("hatched: grade C", "specks: error withheld", "no number", "not asked for"):
        assert said in words
    assert "Area d: withheld, it would leak" in picture.told
    assert areas(picture)["300"] == "pic-map-none"
    assert areas(picture)["400"] == "pic-map-ground"
    assert "500" not in areas(picture)


def test_numbers_without_a_shape_are_named_with_their_error_and_not_lost():
    picture = drawn([*ALL, mark("zz", 77, label="Abroad")])
    assert "Not on the map: Abroad 77 ± 5 A." in picture.told
    assert "Abroad 77 ± 5" in picture.svg


def test_areas_are_links_that_a_keyboard_reaches_only_where_they_lead_somewhere():
    linked = drawn([mark(code, place, href=f"?cell={code}&x=1") for place, code in enumerate(CODES)])
    links = list(parsed(linked).iter(f"{SVG}a"))
    assert [one.get("href") for one in links] == [f"?cell={code}&x=1" for code in CODES]
    assert all(one.get("aria-label") for one in links)
    assert parsed(linked).get("role") == "group"
    assert parsed(drawn(ALL)).get("role") == "img"
    assert not list(parsed(drawn(ALL)).iter(f"{SVG}a"))


def test_the_area_of_a_dot_is_in_proportion_to_its_number():
    picture = drawn([mark("a", 100), mark("b", 400), mark("c", 900)], kind="dots")
    dots = list(parsed(picture).iter(f"{SVG}a")) + list(parsed(picture).iter(f"{SVG}g"))
    radii = {}
    for one in dots:
        title = one.find(f"{SVG}title")
        circle = [c for c in one.findall(f"{SVG}circle") if c.get("class") == "pic-map-dot"]
        if title is not None and circle:
            radii[title.text.split(":")[0]] = float(circle[0].get("r"))
    assert radii["Area b"] / radii["Area a"] == pytest.approx(2, rel=0.02)
    assert radii["Area c"] / radii["Area a"] == pytest.approx(3, rel=0.02)


def test_a_number_below_0_is_no_circle():
    picture = drawn([mark("a", 100), mark("b", -50, "C")], kind="dots")
    assert "on its head: below 0" in picture.svg
    assert len([one for one in parsed(picture).iter(f"{SVG}circle") if one.get("class") == "pic-map-hollow"]) == 0


def test_two_maps_on_a_page_do_not_share_the_names_of_their_patterns():
    one, other = drawn(ALL), drawn(ALL, title="Pay by place")
    ids = [set(re.findall(r' id="([^"]*)"', picture.svg)) for picture in (one, other)]
    assert len(ids[0]) == 8
    assert not ids[0] & ids[1]


@pytest.mark.parametrize(
    ("marks", "style", "said"),
    [
        ([], {}, "has a shape"),
        ([mark("zz", 1)], {}, "has a shape"),
        ([mark("a", 1, series="x"), mark("a", 2, series="y")], {}, "one column"),
        (ALL, {"kind": "globe"}, "'areas' or 'dots'"),
        ([mark(f"{n}", n) for n in range(5001)], {}, "choose a higher level"),
    ],
)
def test_what_cannot_be_mapped_is_refused_in_words(marks, style, said):
    with pytest.raises(QueryError, match=said):
        drawn(marks, **style)


intervals = st.lists(
    st.tuples(st.floats(-1e6, 1e6).map(lambda value: round(value, 3)), st.floats(0, 1e5)), min_size=1, max_size=40
).map(lambda pairs: [(value - margin, value + margin) for value, margin in pairs])


@settings(deadline=None, max_examples=50)
@given(intervals)
def test_numbers_of_different_shades_have_intervals_that_do_not_overlap(some):
    classes = classes_of(some)
    assert 1 <= len(classes) <= 5
    shaded = [(classes.shade(one), *one) for one in some if classes.shade(one) is not None]
    for (shade, _, high), (other, low, _) in itertools.permutations(shaded, 2):
        assert shade >= other or high < low
    assert list(classes.borders) == sorted(set(classes.borders))


def geometric_margin(epsilon, level):
    """The least number of steps that hold two-sided geometric noise: it is beyond k with 2 aᵏ⁺¹ / (1 + a)."""
    a = math.exp(-epsilon)
    return next(steps for steps in itertools.count() if 2 * a ** (steps + 1) / (1 + a) <= 1 - level)


def maps_that_part(epsilon, areas, apart, level, maps):
    """How many maps of areas that are all truly alike give two of them different shades."""
    rng, once = np.random.default_rng(11), -math.expm1(-epsilon)
    noise = rng.geometric(once, (maps, areas)) - rng.geometric(once, (maps, areas))
    margin = geometric_margin(epsilon, level)
    ends = [[(value - margin, value + margin) for value in row] for row in noise.tolist()]
    shades = ({apart(classes, held) for held in one} for one in ends for classes in [classes_of(one)])
    return sum(len(found - {None}) > 1 for found in shades)


@pytest.mark.parametrize(("epsilon", "areas"), [(4.5, 400), (2.5, 40), (2.0, 20), (2.5, 5)])
def test_areas_that_are_alike_seldom_have_two_shades_where_noise_moves_in_whole_steps(epsilon, areas):
    """In at most 10 of 100 maps: more than the 1 - 1e-9 quantile of a binomial law is a false alarm in 1e9.

    Shades of intervals that may touch part 98 of 100 maps of 400 areas, and are found out with a chance above 1 - 1e-9.
    """
    maps = 100 if areas == 400 else 500
    found = maps_that_part(epsilon, areas, Classes.shade, 1 - 0.10 / areas, maps)
    assert found <= binom.isf(1e-9, maps, 0.10)


def test_shades_of_intervals_that_touch_would_be_found_out():
    def touching(_, held):
        return 0 if held[1] <= 0 else 1 if held[0] >= 0 else None

    assert maps_that_part(4.5, 400, touching, 1 - 0.10 / 400, 100) > binom.isf(1e-9, 100, 0.10)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(-1000, 1000), min_size=10, max_size=100, unique=True))
def test_numbers_without_error_fall_into_classes_of_about_equally_many(values):
    """Pairs told apart are most where classes are as equal as can be: (n² - the sum of their squares) / 2."""
    classes = classes_of([(value, value) for value in values])
    sizes = [len(values) // 5 + (place < len(values) % 5) for place in range(5)]
    most = (len(values) ** 2 - sum(size**2 for size in sizes)) / 2
    found = [sum(classes.place((value, value)) == place for value in values) for place in range(len(classes))]
    assert (len(values) ** 2 - sum(size**2 for size in found)) / 2 >= 0.95 * most


def test_more_areas_than_anyone_draws_are_parted():
    assert len(classes_of([(value - 30, value + 30) for value in range(5_000)])) == 5


def luminance(colour):
    """WCAG 2 relative luminance."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_shades_are_told_apart_by_lightness_alone_in_light_and_in_dark():
    css = (Path(sfumato.serve.__file__).parent / "static" / "map.css").read_text(encoding="utf-8")
    dark = re.findall(r"\.pic-map-[1-5] \{ fill: (#[0-9a-f]{6})", css)
    assert len(dark) == 5
    for shades in (SHADES[::-1], dark):
        light = [luminance(shade) + 0.05 for shade in shades]
        assert all(after / before > 1.35 for before, after in itertools.pairwise(light))


def test_a_csv_is_read_with_or_without_a_heading_and_in_other_spreadsheets_ways():
    assert overlay("\ufeffcode;rate\r\na;4.5\r\n\r\nb;−2\r\n", CODES).values == {"a": 4.5, "b": -2}
    assert overlay("a,1\nb,2", CODES) == overlay("a\t1\nb\t2", CODES)
    assert overlay('"a","1e3"', CODES).values == {"a": 1000}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no numbers"),
        ("code,value\n", "nothing below"),
        ("code,value\nzz,2", "Line 2 of your numbers: 'zz' has no shape"),
        ("a,1\n\nb,=1+1", "Line 3 of your numbers: '=1\\+1' is no number"),
        ("a,1\nb,nan", "Line 2 .* no number"),
        ("a,1\nb,inf", "Line 2 .* no number"),
        ("a,1\na,2", "Line 2 .* second time"),
        ("a,1,2", "Line 1 of your numbers has 3 fields"),
        ('a,1\n"b,2', "Line 2 of your numbers"),
        ("a,1\n" * 5002, "second time|more than"),
    ],
)
def test_a_csv_that_is_not_code_and_value_is_refused_by_its_line(content, said):
    with pytest.raises(QueryError, match=said):
        overlay(content, CODES)


def test_lines_of_unknown_codes_are_counted_and_the_others_kept():
    own = overlay("code,rate\nzz,2\na,1\nyy,3", CODES)
    assert (own.values, own.unknown) == ({"a": 1}, 2)
    assert own.first_unknown.startswith("Line 2 of your numbers: 'zz' has no shape on this map; ")


@given(st.text(max_size=200))
def test_any_csv_is_read_or_refused_in_words(content):
    try:
        own = overlay(content, CODES)
    except QueryError:
        return
    assert all(math.isfinite(value) for value in own.values.values())
    drawn(ALL, overlay=own)


def test_an_overlay_is_outlined_over_the_map_and_said_to_have_no_error():
    picture = drawn(ALL, overlay=overlay("code,rate\na,4\nb,-1", CODES))
    diamonds = [one for one in parsed(picture).iter(f"{SVG}polygon") if "pic-map-own" in one.get("class", "")]
    assert len(diamonds) == 3  # two areas and the legend
    assert "without errors: rate" in picture.svg
    assert "Your rate, a: 4, without error" in picture.svg
    written = [one.text for one in parsed(picture).iter(f"{SVG}text") if one.get("class") == "pic-map-mine"]
    assert written == ["4", "−1"]


def own_number(place):
    """Where the diamond of a part of an area stands, and its number; the words of the area stand about (50, 50)."""
    shapes = Squares()
    shapes.places["b"] = place
    picture = map_of(shapes, [mark("a", 10)], Caption("Jobs", axis="jobs"), MapStyle(overlay=overlay("b,4", CODES)))
    (written,) = (one for one in parsed(picture).iter(f"{SVG}text") if one.get("class") == "pic-map-mine")
    diamond = next(one for one in parsed(picture).iter(f"{SVG}polygon") if "pic-map-own" in one.get("class", ""))
    middle = [float(point.split(",")[1]) for point in diamond.get("points").split()]
    return sum(middle) / len(middle), float(written.get("y"))


def test_an_own_number_lies_on_no_words_of_another_area():
    diamond, number = own_number((55, 75))
    assert number > diamond, "below it, as words stand above"
    diamond, number = own_number((350, 50))
    assert number < diamond


@pytest.mark.parametrize("kind", ["areas", "dots"])
def test_the_vega_form_carries_the_errors_of_every_number_and_fetches_nothing(kind):
    spec = json.loads(drawn(ALL, kind=kind, blank={"zz": "no shape"}).to_vega())
    values = [one["properties"] for one in spec["data"]["values"]]
    assert [(one["value"], one["low"], one["high"], one["grade"]) for one in values] == [
        (one.value, one.low, one.high, "A") for one in ALL
    ]
    assert "url" not in spec["data"]
    assert spec["projection"] == {"type": "identity"}


def test_areas_are_called_by_their_labels_and_by_codes_only_where_a_label_has_no_room():
    marks = [mark("a", 10, label="North"), mark("b", 90, label="The united provinces of everywhere and beyond")]
    for kind in ("areas", "dots"):
        names = [
            one.text for one in parsed(drawn(marks, kind=kind)).iter(f"{SVG}text") if "map-name" in one.get("class", "")
        ]
        assert sorted(names) == ["North", "b"]


def named_on(picture):
    return [one.text for one in parsed(picture).iter(f"{SVG}text") if "map-name" in one.get("class", "")]


@pytest.mark.parametrize("kind", ["areas", "dots"])
def test_a_code_that_is_a_word_of_another_language_is_no_name_on_a_map(monkeypatch, kind):
    """The map of a German page called the west `west`; squares are 120 wide, which holds about 20 letters."""
    monkeypatch.setattr("tests.pictures.test_map.CODES", ("midwest", "TX"))
    marks = [mark("midwest", 10, label="Mittlerer Westen mit den großen Seen"), mark("TX", 90, label="Texas " * 9)]
    first, second = sorted(named_on(drawn(marks, kind=kind)), reverse=True)
    assert first == "TX"
    assert re.fullmatch(r"Mittlerer\b.*…", second)


def test_no_dot_covers_a_name():
    picture = parsed(drawn(ALL, kind="dots"))
    order = [one.get("class", "").split()[0] for one in picture.iter() if one.tag in {f"{SVG}circle", f"{SVG}text"}]
    assert order[: order.index("pic-map-name")].count("pic-map-dot") == len(ALL)


def test_a_key_to_errors_stands_only_where_numbers_have_some():
    """The map of a suppressed table, whose numbers are true ones, explained a smear that it has not."""
    exact = drawn([mark("a", 100, low=100, high=100), mark("b", 400, low=400, high=400)], kind="dots")
    assert "to the end of the interval" not in exact.to_svg()
    assert "to the end of the interval" in drawn([mark("a", 100), mark("b", 400)], kind="dots").to_svg()


def test_words_on_the_darkest_shade_are_light_and_have_no_halo():
    marks = [mark("a", 10, label="A", low=9, high=11), mark("b", 90, label="B", low=89, high=91)]
    names = {one.text: one for one in parsed(drawn(marks)).iter(f"{SVG}text") if "map-name" in one.get("class", "")}
    assert names["B"].get("fill") == CARD
    assert names["B"].get("stroke") is None
    assert names["A"].get("stroke") == CARD
