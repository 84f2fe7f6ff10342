"""Suppressed tables: a number comes from its own cell, what is withheld is nowhere, and a sum of it says so."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import sfumato
from tests.suppressed import SIZE, TRADE, WHY, linked, margins, release, table

import sfumato as sf
from sfumato.errors import QueryError, ReleaseError
from sfumato.release import Manifest, Suppressed, open_release, seal, verify
from sfumato.release.products.suppressed import NEEDS, UNHELD, WITHHELD
from sfumato.schema import Box, CellKeys, Grid
from sfumato.schema.nodes import Nodes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return release(tmp_path_factory.mktemp("suppressed") / "pay")


def box(**where):
    return Box({name: {"trade": TRADE, "size": SIZE}[name].levels.mask(codes) for name, codes in where.items()})


def number(product, **where):
    """The number of a box, or the mark in its place."""
    statuses = product.missing(Grid((), box(**where)))
    return statuses.at(0) if statuses else product.total(box(**where))


def test_a_total_is_there_though_its_parts_are_withheld():
    product = table()
    assert (number(product, trade="1a"), number(product, trade="1", size="s"), number(product)) == (7, 17, 38)
    assert [number(product, trade=one, size="s") for one in ("1a", "1b", "1c", "2")] == [WITHHELD, WITHHELD, 9, 4]


def test_a_sum_of_several_cells_is_a_number_if_all_of_them_are():
    product = table()
    assert number(product, trade=["1c", "2"], size="s") == 13
    assert number(product, trade=["1a", "2"], size="s") is NEEDS
    assert number(product, trade=["1a", "1b"]) == 16  # 7 + 9, both published as totals of a trade
    # All trades under 1 are the one cell that is called so, and no sum of which parts are withheld.
    assert number(product, trade=["1a", "1b", "1c"], size="s") == 17
    assert product.cells(box(trade=["1a", "1b", "1c"], size="s")) == 1


def test_nothing_is_noise_and_the_whole_table_is_answered_as_its_boxes_are():
    product = table()
    groups = np.array([TRADE.levels.mask(one) for one in TRADE.levels.codes])
    grid = Grid((("size", np.eye(2, dtype=bool)), ("trade", groups)))
    statuses = product.missing(grid)
    for flat, one in enumerate(grid.boxes()):
        assert product.total(one) == product.totals(grid).flat[flat]
        alone = product.missing(Grid((), one))
        assert (alone.at(0) if alone else None) == statuses.at(flat)
    assert not product.variances(grid).any()
    assert product.covariance(Box(), box(trade="1")) == 0


def test_a_table_that_is_not_additive_over_its_parts_answers_shares_where_it_can(folder):
    shown = sf.open(folder).table("trade", "size", at={"trade": "all"})
    assert shown.shares("row")["Roofers", "Small"].value == pytest.approx(0.9)
    with pytest.raises(QueryError, match="Withheld, so that nobody"):
        shown.shares("row")["Masons", "Small"]
    with pytest.raises(QueryError, match="Withheld"):
        shown["Masons", "Small"]
    # 17, 9 and 4 are told; the two that are withheld may stand anywhere among them.
    assert shown.ranks("Small") == {"1": (1, 3), "1c": (2, 4), "2": (3, 5)}
    assert shown.compare(("Roofers", "Small"), ("Services", "Small")).value == 5


def test_no_file_and_no_object_holds_a_number_that_is_withheld(folder):
    held = open_release(folder).products["pay"]
    assert not held.values[held.withheld].any()
    written = pq.read_table(folder / "products" / "pay.parquet").to_pylist()
    told = {(row["trade"], row["size"]): row["value"] for row in written}
    assert told == {key: None if key[0] in {"1a", "1b"} and key[1] else value for key, value in margins().items()}
    footer = pq.read_metadata(folder / "products" / "pay.parquet")
    assert not any(footer.row_group(0).column(place).is_stats_set for place in range(footer.num_columns))


def test_cells_that_are_not_listed_are_published_as_nothing():
    cells = margins() | {("2", "s"): 0, ("2", None): 8, (None, "s"): 17, (None, None): 34}
    product = table(cells=cells)
    assert len(product.keys) == len(cells) - 1
    assert number(product, trade="2", size="s") == 0


def test_a_part_that_is_the_whole_of_the_one_above_is_the_same_cell():
    """With a single child a code and its parent are one number, whichever of them is asked."""
    levels = sf.Levels.of(
        ["1", {"code": "11", "parent": "1"}, "2", {"code": "21", "parent": "2"}, {"code": "22", "parent": "2"}]
    )
    nodes = Nodes(sf.Attribute("trade", levels))
    assert nodes.codes == (None, "1", "2", "21", "22")
    assert nodes.node == {"1": 1, "11": 1, "2": 2, "21": 3, "22": 4}
    assert nodes.within(levels.mask(["11", "22"])).tolist() == [1, 4]
    assert nodes.splits.tolist() == [1, 0, 2, 0, 0]


def test_tables_that_share_cells_hold_each_once_and_say_what_is_in_none():
    place = sf.Attribute("place", sf.Levels.of("ns"), label="Place")
    both = linked((TRADE, SIZE, place), (("trade", "size"), ("trade@0", "place")))
    codes = [(*one, None) for one in margins()] + [(one, None, at) for one in ("1", "2", None) for at in "ns"]
    values = [*margins().values(), 20, 6, 5, 7, 25, 13]
    product = Suppressed.listed(
        table().subject, both.family, both.coded(codes), np.array(values), np.zeros(24, dtype=bool)
    )
    assert len(product.keys) == 24
    asked = {"trade": TRADE.levels.mask("1a"), "place": np.array([True, False])}
    assert product.missing(Grid((), Box(asked))).at(0) is UNHELD
    assert product.total(Box(asked | {"trade": TRADE.levels.mask("1")})) == 20
    assert product.refuses(frozenset({"size", "place"})).startswith(
        "This release has tables of Trade × Size, of Trade × Place; "
    )
    assert product.refuses(frozenset({"trade", "place"})) == ""


def spoiled(folder, tmp_path, change):
    """The release with its table changed, sealed again by somebody who does not care."""
    product = open_release(folder).products["pay"]
    return release(tmp_path / "spoiled", change(product))


def bumped(product, code, by):
    key = CellKeys(product.domain).coded([code])
    return replace(product, values=product.values + by * (product.keys == key))


def test_published_totals_that_are_no_sums_are_refused(folder, tmp_path):
    with pytest.raises(ReleaseError, match="its published totals are not the sums of their parts"):
        open_release(spoiled(folder, tmp_path, lambda one: bumped(one, ("1c", None), 1)))


def test_where_parts_are_withheld_the_total_is_not_held_against_them(folder, tmp_path):
    """Negative arm: a total of which a part is withheld may be anything, so nothing of the kind is refused for it."""
    cells = {key: value + (key == (None, None)) for key, value in margins().items()}
    hidden = {("1", None), ("2", None), (None, "s"), (None, "l")}
    product = table(hidden | {(one, size) for one in ("1a", "1b") for size in "sl"}, cells)
    assert open_release(release(tmp_path / "fine", product)).products["pay"].total(Box()) == 39


def test_cells_out_of_order_or_with_a_number_though_withheld_are_no_product():
    product = table()
    with pytest.raises(ValueError, match="in their order"):
        replace(product, keys=product.keys[::-1], values=product.values[::-1], withheld=product.withheld[::-1])
    with pytest.raises(ValueError, match="a number for a cell that is withheld"):
        replace(product, values=product.values + product.withheld)


def test_a_manifest_that_states_noise_is_refused(folder, tmp_path):
    release(tmp_path / "noisy")
    manifest = open_release(tmp_path / "noisy").manifest
    line = manifest.products[0].model_copy(update={"uncertainty": {"kind": "independent", "variance": 2.0}})
    (tmp_path / "noisy" / "manifest.json").unlink()
    seal(tmp_path / "noisy", Manifest(**{**dict(manifest), "products": [line]}))
    with pytest.raises(ReleaseError, match="it states an error of noise, and has none"):
        open_release(tmp_path / "noisy")


def test_verify_table_and_files_say_what_it_is(folder):
    assert verify(folder).caveats == (f"Not formally private, unbounded: {WHY}.",)
    shown = sfumato("table", folder, "--rows", "trade", "--cols", "size", "--at", "trade=all").stdout
    assert "NOT FORMALLY PRIVATE" in shown
    assert f"D  {WITHHELD.reason}" in shown
    assert "± is the 90% margin of error, which is 0, as numbers that are published are the true ones." in shown
    detail = repr(sf.open(folder).table("trade", "size").detail(("Trades", "Small")))
    assert "It is the true number: no noise was added" in detail
    assert "Noise was added" not in detail
    written = json.loads(
        sfumato(
            "table", folder, "--rows", "trade", "--cols", "size", "--at", "trade=all", "--format", "json-stat2"
        ).stdout
    )
    assert written["extension"]["status"]["label"]["D"] == WITHHELD.reason
    assert list(written["status"].values()).count("D") == 4 * len(
        written["dimension"]["ContentsCode"]["category"]["index"]
    )


def test_a_comparison_says_which_cells_either_withholds(folder, tmp_path):
    """Of the four cells of the first the second has two, and withholds the whole besides."""
    withheld = frozenset({(None, None), ("2", None), ("1a", "s"), ("1a", "l")})
    said = sfumato("diff", folder, release(tmp_path / "other", table(withheld))).stdout
    assert "product pay: 2 cells are withheld in both, 2 in the first alone and 2 in the second alone" in said
    assert "pay: how far the whole changed is not told: Withheld" in said
    assert "noise" not in said
