"""A stranger's family of tables is bounded before its components are made, and refused in words where it is none."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.families import PLAN, family_release
from tests.release.strangers import packed, put, refused

from sfumato.errors import PlanError
from sfumato.release import open_release
from sfumato.schema import Attribute, Levels, Schema, UpTo
from sfumato.schema.family import MOST_COMPONENTS

FAMILY, LAW = ("products", 0, "family"), ("products", 0, "uncertainty")
NAMES = ["place", "sex", "age", "school"]
PLACES = [
    ((*FAMILY, "up_to"), (0, -1, 5, 10**30, "2", 2.0, True, None, float("nan"), [2])),
    ((*FAMILY, "of"), ([], "place", 7, None, [1, 2], [None], [["place"]], ["place", "place"], ["no such"], NAMES[:2])),
    ((*FAMILY, "of"), (["place@9"], [*NAMES, "place@0"], ["place@²"], ["x"] * 50_000)),
    ((*FAMILY, "also"), ("place", 7, None, {}, ["place"], [7], [[7]], [["no such"]], [["sex", "sex"]], [[]] * 30_000)),
    (
        FAMILY,
        ({}, {"up_to": 2}, {"up_to": 2, "of": NAMES, "also": [], "more": 1}, {"up_to": 1, "of": NAMES, "also": []}),
    ),
    ((*LAW, "variances"), ([], [1.0], [1.0] * 10_000, 7, None, "x")),
    ((*LAW, "variances", 3), (float("nan"), float("inf"), -1.0, "2", None, True, 1e308)),
    ((*LAW, "even"), (1, "true", None)),
    ((*LAW, "rounding"), (float("nan"), -1.0, "x")),
    ((*LAW, "kind"), ("independent", "margins", "no such")),
    (("products", 0, "by"), ([], NAMES[:3], ["place@0", *NAMES[1:]], list(reversed(NAMES)))),
    (("products", 0, "impossible"), ([{"sex": ["f"], "age": ["old"]}],)),
    (("products", 0, "kind"), ("cube", "sparse", "records", "groups")),
]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return family_release(tmp_path_factory.mktemp("family") / "release")


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, values in PLACES for value in values])
def test_a_family_that_is_none_is_refused_in_words(ours, tmp_path, path, value):
    folder = packed(ours, tmp_path / "theirs", put(*path, value=value))
    assert "object" not in refused(folder)


def test_an_error_that_cells_of_several_tables_cannot_have_is_refused(ours, tmp_path):
    """Cells of tables that agree share noise: with noise of its own in each, a total would be stated as noisier."""
    law = {"kind": "independent", "variance": 2.0}
    assert "share noise" in refused(packed(ours, tmp_path / "theirs", put(*LAW, value=law)))


def test_a_release_that_says_what_ours_says_is_opened(ours, tmp_path):
    assert open_release(packed(ours, tmp_path / "theirs")).products["jobs"].domain.spec.up_to == 2


@pytest.mark.parametrize("change", [lambda part: part[:-1], lambda part: pa.concat_tables([part, part[:1]])])
def test_a_file_of_another_number_of_rows_is_refused(ours, tmp_path, change):
    def files(folder):
        path = folder / "products" / "jobs.parquet"
        pq.write_table(change(pq.read_table(path)), path)

    assert "rows" in refused(packed(ours, tmp_path / "theirs", files=files))


def test_tables_that_do_not_agree_are_refused(ours, tmp_path):
    def files(folder):
        path = folder / "products" / "jobs.parquet"
        table = pq.read_table(path)
        values = table["value"].to_pylist()
        values[0] += 1
        pq.write_table(table.set_column(table.schema.get_field_index("value"), "value", pa.array(values)), path)

    assert "do not agree" in refused(packed(ours, tmp_path / "theirs", files=files))


def test_too_many_components_are_refused_before_they_are_made():
    """Forty attributes of two levels have 2^40 choices of levels; listing them would take days."""
    schema = Schema(tuple(Attribute(f"a{place}", Levels.of("12")) for place in range(40)))
    with pytest.raises(PlanError, match=r"1,099,511,627,776 choices of levels, more than the 250,000"):
        UpTo(40, tuple(one.name for one in schema.attributes)).family(schema)
    assert MOST_COMPONENTS > 2**10
    few = UpTo(10, tuple(one.name for one in schema.attributes[:10])).family(schema)
    assert len(few.components) == 2**10


def test_what_the_plan_says_stands_in_the_manifest(ours):
    said = json.loads((ours / "manifest.json").read_bytes())["products"][0]["family"]
    assert said == {"up_to": 2, "of": NAMES, "also": [["place@0", "sex", "age"]]}
    assert "up_to = 2" in PLAN
