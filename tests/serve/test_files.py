"""Every file of a release at the address of its hash: in parts, from anywhere, and read by pyarrow and DuckDB."""

import hashlib
import io
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.confidential import Account, Microdata, run

YEAR = "public, max-age=31536000, immutable"


@pytest.fixture(scope="module")
def released(bench):
    return bench.release("files")


@pytest.fixture(scope="module")
def client(released, browse):
    return browse([released])


@pytest.fixture(scope="module")
def listed(client):
    reply = client.ask("GET", "/api/v2/files/jobs-survey")
    assert reply.status_code == 200, reply.text
    return {one["name"]: one for one in reply.json()["files"]}


def address(one):
    return "/files/" + one["href"].partition("/files/")[2]


def test_every_file_of_the_release_is_listed_and_has_the_hash_of_its_address(client, released, listed):
    there = {path.relative_to(released).as_posix() for path in released.rglob("*") if path.is_file()}
    assert listed.keys() == there
    for name, one in listed.items():
        reply = client.ask("GET", address(one))
        assert reply.content == (released / name).read_bytes()
        assert hashlib.sha256(reply.content).hexdigest() == one["sha256"]
        assert one["sha256"] in one["href"]
        assert reply.headers["cache-control"] == YEAR
        assert reply.headers["access-control-allow-origin"] == "*"
        assert len(reply.content) == one["bytes"]


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-3", slice(0, 4)),
        ("bytes=-8", slice(-8, None)),
        ("bytes=100-", slice(100, None)),
        ("bytes=7-7", slice(7, 8)),
    ],
)
def test_a_part_is_that_part_of_the_file_also_after_the_whole_was_asked_for(client, released, listed, asked, part):
    name = "products/jobs.parquet"
    content = (released / name).read_bytes()
    assert client.ask("GET", address(listed[name])).content == content
    reply = client.ask("GET", address(listed[name]), headers={"Range": asked})
    assert (reply.status_code, reply.content) == (206, content[part])
    start = range(len(content))[part].start
    assert reply.headers["content-range"] == f"bytes {start}-{start + len(reply.content) - 1}/{len(content)}"


def test_what_lies_beyond_the_end_is_refused_and_several_parts_are_the_whole(client, listed):
    one = listed["products/jobs.parquet"]
    reply = client.ask("GET", address(one), headers={"Range": f"bytes={one['bytes']}-"})
    assert (reply.status_code, reply.headers["content-range"]) == (416, f"bytes */{one['bytes']}")
    assert reply.headers["cache-control"] == "no-store"
    assert client.ask("GET", address(one), headers={"Range": "bytes=0-1,4-5"}).status_code == 200
    other = {"Range": "bytes=0-1", "If-Range": '"another"'}
    assert client.ask("GET", address(one), headers=other).status_code == 200


def test_head_gives_the_size_and_who_holds_the_file_is_told_so(client, listed):
    one = listed["products/jobs.parquet"]
    head = client.ask("HEAD", address(one))
    assert (head.status_code, head.content) == (200, b"")
    assert (head.headers["content-length"], head.headers["accept-ranges"]) == (str(one["bytes"]), "bytes")
    held = client.ask("GET", address(one), headers={"If-None-Match": head.headers["etag"]})
    assert (held.status_code, held.headers["cache-control"]) == (304, YEAR)


def test_a_page_elsewhere_may_ask_for_parts(client, listed):
    reply = client.ask("OPTIONS", address(listed["manifest.json"]), headers={"Origin": "https://elsewhere.example"})
    assert reply.status_code == 204
    assert "Range" in reply.headers["access-control-allow-headers"]


def test_nothing_but_published_files_is_given(client, listed):
    digest = listed["manifest.json"]["sha256"]
    for path in (
        f"/files/{digest}/plan.toml",
        f"/files/{'0' * 64}/manifest.json",
        f"/files/{digest}/..%2Fmanifest.json",
    ):
        reply = client.ask("GET", path)
        assert (reply.status_code, "is published here" in reply.text or "is served at this address" in reply.text) == (
            404,
            True,
        ), path


def test_a_file_that_was_changed_on_the_disk_is_given_no_more(bench, browse):
    folder = bench.release("files-changed")
    asked = browse([folder]).ask
    one = asked("GET", "/api/v2/files/jobs-survey").json()["files"][-1]
    assert asked("GET", address(one)).status_code == 200
    path = folder / one["name"]
    path.write_bytes(path.read_bytes()[::-1])
    assert asked("GET", address(one), headers={"Range": "bytes=0-9"}).status_code == 404


class Remote(io.RawIOBase):
    """A file at an address, of which only the parts that are read are fetched."""

    def __init__(self, ask, where):
        self.ask, self.where, self.at, self.fetched = ask, where, 0, 0
        self.size = int(ask("HEAD", where).headers["content-length"])

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def read(self, size=-1):
        end = self.size if size < 0 else min(self.at + size, self.size)
        if end <= self.at:
            return b""
        reply = self.ask("GET", self.where, headers={"Range": f"bytes={self.at}-{end - 1}"})
        assert reply.status_code == 206
        self.at, self.fetched = end, self.fetched + len(reply.content)
        return reply.content


SIDES = {"street": 40, "trade": 20, "age": 20, "hours": 12}
"""Variables of a table of 192,000 cells, whose noise of variance 20,000 cannot be packed into little."""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    drawn = np.random.default_rng(3)
    rows = {name: [f"{name}{one}" for one in drawn.integers(0, size, 500)] for name, size in SIDES.items()}
    pq.write_table(pa.table(rows), folder / "jobs.parquet")
    levels = {name: sf.Levels.of([f"{name}{one}" for one in range(size)]) for name, size in SIDES.items()}
    schema = sf.Schema(tuple(sf.Attribute(name, of) for name, of in levels.items()), unit="job", repeated_rows=True)
    counts = sf.Measure("jobs", sf.Count(), schema.names, sf.Geometric(Fraction(1, 100)))
    plan = sf.Plan("large", schema, hidden=sf.AddRemove("job"), limit=sf.Approximate(1), measures=(counts,))
    Account.create(folder / "jobs.ledger", "jobs", plan.hidden, sf.Approximate(1))
    run(plan, Microdata.open(folder / "jobs.parquet", schema), folder / "jobs.ledger", folder / "release")
    return folder / "release"


@pytest.fixture(scope="module")
def server(large, serving):
    with serving([large]) as client:
        yield client


@pytest.fixture(scope="module")
def over_http(large, server):
    """The file of a product on a real server, its address, and the table that it holds."""
    files = server.get("/api/v2/files/large").json()["files"]
    one = next(one for one in files if one["name"] == "products/jobs.parquet")
    return one, pq.read_table(large / one["name"])


def test_pyarrow_reads_one_column_over_http_and_fetches_a_part_of_the_file(server, over_http):
    one, whole = over_http
    remote = Remote(server.request, one["href"])
    narrow = min(whole.column_names, key=lambda name: whole[name].nbytes)
    file = pq.ParquetFile(pa.PythonFile(remote, mode="r"), pre_buffer=False)
    assert file.read([narrow])[narrow].equals(whole[narrow])
    assert 0 < remote.fetched < one["bytes"] / 2


def test_duckdb_sums_what_pyarrow_fetches_over_http(server, over_http):
    one, whole = over_http
    file = pq.ParquetFile(pa.PythonFile(Remote(server.request, one["href"]), mode="r"), pre_buffer=False)
    fetched = pa.RecordBatchReader.from_batches(
        pa.schema([file.schema_arrow.field("value")]), file.iter_batches(columns=["value"])
    )
    with duckdb.connect() as connection:
        connection.register("fetched", fetched)
        assert connection.execute("SELECT sum(value) FROM fetched").fetchall()[0][0] == int(
            whole["value"].to_numpy().sum()
        )


def test_duckdb_reads_an_address_by_itself(over_http):
    one, whole = over_http
    with duckdb.connect() as connection:
        try:
            connection.execute("LOAD httpfs")
        except duckdb.Error:
            pytest.skip("DuckDB's extension httpfs is not installed on this machine")
        assert connection.execute(f"SELECT count(*) FROM '{one['href']}'").fetchall()[0][0] == whole.num_rows


def test_what_the_extension_of_duckdb_asks_is_answered_as_it_needs(server, over_http):
    """It asks HEAD for the size and that parts are given, and then for parts with one connection kept open."""
    one, _ = over_http
    head = server.head(one["href"])
    assert (head.headers["accept-ranges"], int(head.headers["content-length"])) == ("bytes", one["bytes"])
    for start, end in ((one["bytes"] - 8, one["bytes"] - 1), (0, 3), (4, one["bytes"] // 2)):
        reply = server.get(one["href"], headers={"Range": f"bytes={start}-{end}"})
        assert (reply.status_code, len(reply.content)) == (206, end - start + 1)
        assert reply.headers["content-length"] == str(end - start + 1)


def test_a_file_larger_than_what_is_read_at_once_comes_in_pieces(client, listed, monkeypatch):
    monkeypatch.setattr("sfumato.serve.files.AT_ONCE", 1_000)
    monkeypatch.setattr("sfumato.serve.files.PIECE", 700)
    one = listed["products/pay.parquet"]
    reply = client.ask("GET", address(one), headers={"Range": f"bytes=10-{one['bytes'] - 2}"})
    assert reply.status_code == 206
    assert len(reply.content) == one["bytes"] - 11
    whole = client.ask("GET", address(one)).content
    assert (reply.content, hashlib.sha256(whole).hexdigest()) == (whole[10:-1], one["sha256"])
