"""Synthetic employment biographies: the totals of the slides exactly, and areas as their tables imply."""

import filecmp

import duckdb
import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.geography.locations import Located, read_locations
from sfumato.geography.partition import microaggregated
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.synth import iab, write
from sfumato.synth.iab_places import aims, cities


@pytest.fixture(scope="module")
def fuerth(tmp_path_factory):
    return write("iab", tmp_path_factory.mktemp("iab")).parent


def asked(folder, query):
    people, locations, members = (f"'{folder}/{name}.parquet'" for name in ("people", "locations", "areas/members"))
    linked = f"(SELECT * FROM {people} JOIN {locations} USING (person_id) JOIN {members} USING (person_id))"
    return duckdb.sql(query.replace("LINKED", linked)).fetchall()


def test_the_totals_are_those_of_the_slides(fuerth):
    # Drechsler and Soria-Comas 2021: N = 42,665; 8,023 not employed, 2,258 of them foreign, 40.09% of all foreigners.
    counted = """SELECT count(*), count(*) FILTER (employed = 'no'),
        count(*) FILTER (employed = 'no' AND "foreign" = 'yes'), count(*) FILTER ("foreign" = 'yes') FROM LINKED"""
    (found,) = asked(fuerth, counted)
    assert found == (42_665, 8_023, 2_258, 5_632)
    assert round(100 * 8_023 / 42_665, 1) == 18.8
    assert round(100 * 2_258 / 5_632, 2) == 40.09
    sizes = dict(asked(fuerth, "SELECT postal_code, count(*) FROM LINKED GROUP BY ALL"))
    assert sorted(sizes) == ["90762", "90763", "90765", "90766", "90768"]
    assert sum(size % 50 for size in sizes.values()) == 15


def test_fifty_a_cluster_are_853_areas_and_160_364_cells(fuerth):
    plan = Plan.read(fuerth / "iab.toml")
    table = plan.table(plan.measures[0])
    assert table.shape[0] == 853
    assert table.size == 853 * 720
    assert int(table.possible.sum()) == 160_364 == 853 * 188
    assert int(table.possible[0].sum()) == 188
    ((least, most),) = asked(fuerth, "SELECT min(n), max(n) FROM (SELECT count(*) n FROM LINKED GROUP BY area)")
    assert least >= 50
    assert most <= 99
    located = read_locations(
        fuerth / "locations.parquet", Located("person_id", ("east", "north"), ("postal_code", "city", "region"))
    )
    assert len(microaggregated(located, 200).codes) == sum(
        size // 200 for (size,) in asked(fuerth, "SELECT count(*) FROM LINKED GROUP BY postal_code")
    )


def test_nobody_is_where_nobody_can_be_and_neighbourhoods_differ(fuerth):
    query = """SELECT count(*) FILTER (benefits = 'yes' AND employed = 'yes'),
        count(*) FILTER ((skill IS NULL) <> (employed = 'no')), count(*) FILTER ((wage IS NULL) <> (employed = 'no')),
        count(*) FILTER ((distance IS NULL) <> (employed = 'no')) FROM LINKED"""
    assert asked(fuerth, query) == [(0, 0, 0, 0)]
    shares = """SELECT count(*) FILTER (wage = 'high') / count(*), count(*) FROM LINKED
        WHERE employed = 'yes' AND skill = 'medium' GROUP BY area HAVING count(*) >= 10"""
    share, held = np.array(asked(fuerth, shares)).T
    by_chance = float((share.mean() * (1 - share.mean()) / held).mean())
    assert share.var() > 1.5 * by_chance  # what a map is to show


def test_what_comes_with_sfumato_is_the_generators_own(fuerth):
    for name in ("areas/areas.csv", "areas/areas.geojson", "areas/sizes.csv", "areas/partition.json", *iab.PLANS):
        assert (fuerth / name).read_bytes() == (SHIPPED / name).read_bytes(), name


def test_the_same_seed_writes_the_same_bytes_and_pieces_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(iab, "PIECE", 60_000)
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        iab.write_people(tmp_path / folder, cities(130_000), seed)
    names = ["people.parquet", "locations.parquet"]
    assert filecmp.cmpfiles(tmp_path / "a", tmp_path / "b", names, shallow=False)[0] == names
    assert not filecmp.cmpfiles(tmp_path / "a", tmp_path / "c", names, shallow=False)[0]
    whole = aims(0, 130_000)
    query = f"""SELECT count(*), count(DISTINCT person_id), count(*) FILTER ("foreign" = 'yes'),
        count(*) FILTER (employed = 'no') FROM '{tmp_path}/a/people.parquet'"""
    assert duckdb.sql(query).fetchall() == [(130_000, 130_000, whole.foreign, whole.not_employed)]
    assert duckdb.sql(f"SELECT count(DISTINCT city) FROM '{tmp_path}/a/locations.parquet'").fetchall() == [(3,)]


def test_forty_million_people_live_in_cities_of_postal_codes():
    listed = cities(40_000_000)
    codes = [code for city in listed for code in city.postal_codes]
    assert sum(city.people for city in listed) == 40_000_000
    assert len({code.code for code in codes}) == len(codes) == pytest.approx(40_000_000 / 8_533, rel=0.1)
    assert min(code.people for code in codes) >= 50
    with pytest.raises(PlanError, match="500 to 200,000,000"):
        cities(10)
