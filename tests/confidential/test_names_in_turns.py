"""Names of more records than are held at once: a sieve that never counts too few, turns that find what all would."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.confidential.engines.arrays import Arrays
from sfumato.confidential.engines.columns import names_in_turns, naming, scan
from sfumato.confidential.engines.columns.names_in_turns import NamesInTurns
from sfumato.confidential.engines.columns.sieve import FULL, Sieve, hashed
from sfumato.confidential.engines.duckdb import DuckDB
from sfumato.confidential.engines.engine import Unsure
from sfumato.confidential.engines.request import Reading
from sfumato.privacy import Truncate
from sfumato.schema import Attribute, Box, Clipped, Levels, Rows, Schema, Sum, Table, Units

SALT = bytes(range(32))
PLACE = Attribute("place", Levels.of("xyz"))
PAY = Sum(Clipped("pay", Fraction(0), Fraction(100), Fraction(1)))
TEXTS = st.text(alphabet="abcXY019", min_size=0, max_size=20)


@given(st.lists(st.tuples(TEXTS, st.integers(-(2**63), 2**63 - 1)), min_size=1), st.integers(0, 5))
@settings(deadline=None)
def test_rows_of_one_content_have_one_hash_in_whatever_batch_and_others_another(rows, before):
    texts, numbers = zip(*rows, strict=True)
    both = hashed([pa.array(texts), pa.array(numbers)])
    alone = [hashed([pa.array(["x" * 30] * before + [text])[before:], pa.array([number])])[0] for text, number in rows]
    assert both.tolist() == alone
    assert len(set(both.tolist())) == len(set(rows)), "two of 2^64 alike are a fault of the hash"


def test_a_number_has_one_hash_in_whatever_width():
    kinds = (pa.int8(), pa.int32(), pa.uint16(), pa.uint64(), pa.int64())
    assert len({tuple(hashed([pa.array([7, 0, 99], kind)]).tolist()) for kind in kinds}) == 1


def test_letters_beyond_a_words_end_and_missing_letters_count():
    texts = ["", "a", "aa", "a" * 7, "a" * 8, "a" * 9, "a" * 16, "a" * 17, "a" * 16 + "b", "a\0", "\0a", "\0"]
    assert len(set(hashed([pa.array(texts)]).tolist())) == len(texts)


@pytest.mark.parametrize("records", [1, 40, 5000])
def test_a_sieve_never_counts_fewer_records_than_there_are_of_a_name(records):
    draw = np.random.default_rng(records)
    names = draw.zipf(1.3, records) % 500
    sieve = Sieve(records // 50)  # so few buckets that names share them
    for some in np.array_split(names, 7):
        sieve.add(hashed([pa.array(some)]))
    of = Counter(names.tolist())
    for at_most in (0, 1, 3, 200):
        crowded = sieve.crowded(hashed([pa.array(names)]), at_most)
        assert all(crowded[place] for place, name in enumerate(names.tolist()) if of[name] > at_most)
        assert sieve.records(at_most) == crowded.sum(), "full buckets count what went past them"


def test_names_that_stand_once_are_mostly_alone_in_their_bucket():
    """Of 200,000 in 4 to 8 buckets each, those with company are Poisson: 1 - exp(-1/5.24) = 17.4%, SD under 0.2%."""
    hashes = hashed([pa.array([f"P{number:09}" for number in range(200_000)])])
    sieve = Sieve(200_000)
    sieve.add(hashes)
    assert abs(sieve.crowded(hashes, 1).mean() - (1 - np.exp(-200_000 / 2**20))) < 0.01


def test_a_bucket_that_is_full_stays_crowded():
    sieve, one = Sieve(1000), hashed([pa.array([7])])
    for _ in range(300):
        sieve.add(one)
    assert sieve.crowded(one, FULL - 1).all()
    assert sieve.records(FULL - 1) == 300


def microdata(folder, kind, rows=600):
    """Files of jobs of a few hundred people, most with few jobs and some with many, and a number for every job."""
    draw = np.random.default_rng(5)
    person = (draw.zipf(1.4, rows) % 250).astype(object)
    names = [f"P{one}" for one in person] if kind == "texts" else person.astype(int)
    table = pa.table({
        "place": draw.choice(list("xyz"), rows),
        "pay": draw.integers(0, 120, rows),
        "person": names,
        "job": np.arange(rows),
        "year": draw.integers(0, 2, rows),
    })  # fmt: skip
    folder.mkdir(exist_ok=True)
    places = [folder / f"part{number}.parquet" for number in range(3)]
    for number, place in enumerate(places):
        pq.write_table(table[number * 200 : (number + 1) * 200], place, row_group_size=70)
    return places


def asked(at_most=2, key=("job",), aggregates=(PAY,)):
    kept = Truncate("person", at_most) if at_most else None
    return Reading(Schema((PLACE,), key=key), (PLACE,), aggregates, "person", kept)


@pytest.fixture
def in_turns(monkeypatch):
    """Names are read in turns of about a hundred records; how many turns there were."""
    turns = []
    monkeypatch.setattr(naming, "NAMES_AT_ONCE", 100)
    monkeypatch.setattr(names_in_turns, "NAMES_AT_ONCE", 100)
    turn = names_in_turns.NamesInTurns._turn
    monkeypatch.setattr(names_in_turns.NamesInTurns, "_turn", lambda *at: turns.append(at[1]) or turn(*at))
    return turns


def cells(engine):
    found = engine.aggregate(Table((PLACE,)), (Rows(), PAY), Box())
    return {one: column.tolist() for one, column in found.items()}


@pytest.mark.parametrize("kind", ["texts", "numbers"])
@pytest.mark.parametrize("at_most", [1, 2, 40])
def test_what_is_kept_in_turns_is_what_duckdb_keeps(tmp_path, in_turns, kind, at_most):
    sources, reading = microdata(tmp_path, kind), asked(at_most)
    expected = cells(DuckDB(sources, reading, SALT))
    assert cells(Arrays(sources, reading, SALT)) == expected
    assert max(in_turns) > 0, "there were several turns"
    assert expected != cells(DuckDB(sources, asked(None), SALT)), "some rows are not kept"


def test_a_key_of_two_columns_is_told_apart_in_turns(tmp_path, in_turns):
    sources = microdata(tmp_path, "texts")
    assert cells(Arrays(sources, asked(None), SALT)) == cells(DuckDB(sources, asked(None), SALT))
    assert in_turns, "keys that share a bucket were looked at"
    with pytest.raises(Unsure, match="'person' and 'year' has a name twice"):
        Arrays(sources, asked(None, key=("person", "year")), SALT)


@pytest.mark.usefixtures("in_turns")
def test_names_of_several_types_or_spellings_are_left_to_duckdb(tmp_path):
    texts, numbers = microdata(tmp_path, "texts"), microdata(tmp_path / "other", "numbers")
    with pytest.raises(Unsure, match="several types"):
        Arrays([texts[0], numbers[1]], asked(), SALT)
    once = [table.slice(0, 1) for table in (pq.read_table(texts[0]), pq.read_table(numbers[1]))]
    few = [tmp_path / f"{place}.parquet" for place in range(2)]
    for table, place in zip(once, few, strict=True):
        pq.write_table(table, place)
    with pytest.raises(Unsure, match="several types"):
        NamesInTurns(few, ["person"], 2, 1)  # although none stands twice, so that there is no turn
    spaced = pq.read_table(texts[0]).set_column(2, "person", pa.array([f" P{one}" for one in range(200)]))
    pq.write_table(spaced, texts[0])
    with pytest.raises(Unsure, match="spellings of one another"):
        Arrays(texts, asked(), SALT)


def test_units_that_are_told_apart_are_held(tmp_path, in_turns):
    sources, reading = microdata(tmp_path, "texts"), asked(aggregates=(PAY, Units()))
    found = Arrays(sources, reading, SALT).aggregate(Table((PLACE,)), (Units(),), Box())
    assert found[Units()].sum() > 100
    assert not in_turns, "all names were held, those of the key too"


def test_batches_that_were_read_are_let_go(tmp_path, monkeypatch):
    """Held for the type of their column alone, they were all names of a file, of 10^9 records 13 GB."""
    monkeypatch.setattr(scan, "BATCH", 10_000)
    pq.write_table(pa.table({"id": [f"unit {number:050}" for number in range(200_000)]}), tmp_path / "units.parquet")
    held = []

    def counted(columns):
        held.append(pa.total_allocated_bytes())
        return hashed(columns)

    monkeypatch.setattr(names_in_turns, "hashed", counted)
    NamesInTurns([tmp_path / "units.parquet"], ["id"], 200_000, 5)
    batch = 10_000 * 55
    assert len(held) == 20
    assert held[-1] - held[0] < 4 * batch, "of twenty batches of which none is wanted any more"
