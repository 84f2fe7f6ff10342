"""Synonyms: public names beside the levels, read from a file, kept in plans and releases."""

import pytest
from tests.serve.small import small

import sfumato as sf
from sfumato.schema import Synonyms
from sfumato.schema.synonyms import LONGEST

PLAN = """
name = "places"
[data]
unit = "job"
[attributes.place]
levels = ["N", "S"]
synonyms = {}
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = {{ mechanism = "geometric", epsilon = "1" }}
"""
INLINE = '[{ code = "N", synonym = "up" }, { code = "N", synonym = "top" }]'


def written(folder, synonyms):
    (folder / "plan.toml").write_text(PLAN.format(synonyms), encoding="utf-8")
    return sf.Plan.read(folder / "plan.toml")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_and_a_list_say_the_same_and_a_plan_stands_alone(tmp_path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kind == "csv":
        (tmp_path / "names.csv").write_text("code,synonym,year\nN,up,2018\nN,top,2018\nN,up,2026\n", encoding="utf-8")
    else:
        pq.write_table(pa.table({"code": ["N", "N"], "synonym": ["up", "top"]}), tmp_path / "names.parquet")
    plan = written(tmp_path, f'"names.{kind}"')
    assert plan.schema.attribute("place").synonyms == Synonyms(("N", "N"), ("up", "top"))
    (tmp_path / "alone").mkdir()
    assert written(tmp_path / "alone", INLINE) == plan
    (tmp_path / "alone" / "again.toml").write_text(plan.to_toml(), encoding="utf-8")
    assert sf.Plan.read(tmp_path / "alone" / "again.toml") == plan
    assert plan != written(tmp_path, "[]"), "a synonym is a part of the plan"
    assert plan.price().total == written(tmp_path, "[]").price().total, "and costs nothing"


@pytest.mark.parametrize(
    ("synonyms", "said"),
    [
        ('"missing.csv"', "missing.csv are not there"),
        ('[{ code = "X", synonym = "up" }]', "is of 'X', which is no level; known: N, S"),
        ('[{ code = "N" }]', "has a code and a name"),
        ('[{ code = "N", name = "up" }]', "A synonym has no 'name'; did you mean|known"),
        (f'[{{ code = "N", synonym = "{"a" * (LONGEST + 1)}" }}]', "has 201 characters"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, synonyms, said):
    with pytest.raises(sf.PlanError, match=said):
        written(tmp_path, synonyms)


@pytest.mark.parametrize("content", ["code,name\nN,up\n", "code,synonym\n", ""])
def test_a_file_that_lacks_something_is_refused(tmp_path, content):
    (tmp_path / "names.csv").write_text(content, encoding="utf-8")
    with pytest.raises(sf.PlanError, match=r"names\.csv lacks rows, or one of the columns code and synonym"):
        Synonyms.read(tmp_path / "names.csv")


def test_a_release_carries_them_as_a_hashed_file(tmp_path):
    synonyms = Synonyms(("s",), ("tiny",))
    sizes = sf.Attribute("size", sf.Levels.of(["s", "m"]), synonyms=synonyms)
    folder = small(tmp_path / "firms", by=(sizes,))
    (attribute,) = sf.open(folder).release.attributes
    assert attribute.synonyms == synonyms
    (folder / "synonyms" / "size.parquet").write_bytes(b"other")
    assert "synonyms/size.parquet was altered" in " ".join(sf.verify(folder).problems)


def test_a_release_without_any_is_written_as_before(tmp_path):
    folder = small(tmp_path / "firms")
    assert b"synonyms" not in (folder / "manifest.json").read_bytes()
    assert not (folder / "synonyms").exists()
