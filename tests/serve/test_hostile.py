"""Whatever is asked, the server answers or refuses in words; it never breaks."""

import random
import socket

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.release import open_release
from sfumato.serve.loopback import is_loopback

WORDS = ["valueCodes", "codelist", "sum", "rows", "cols", "error", "outputFormat", "lang", "query", "pageSize", ""]
NAMES = ["place", "sex", "age", "trade", "metric", "ContentsCode", "", "..", "[", "]", "\x00", "é", "0"]
VALUES = [
    "*",
    "N",
    "male",
    "level0",
    "all",
    "csv",
    "json-stat2",
    "-1",
    "1e999",
    ",",
    ",,,",
    "S,2",
    "%",
    "\ud7ff",
    "a" * 300,
]
PATHS = [
    "/",
    "/jobs-survey~jobs",
    "/api/v2/tables",
    "/api/v2/tables/jobs-survey~jobs/data",
    "/api/v2/tables/jobs-survey~pay/metadata",
]

keys = st.one_of(
    st.sampled_from(WORDS),
    st.builds("{}[{}]".format, st.sampled_from(WORDS), st.sampled_from(NAMES)),
    st.text(max_size=12),
)
values = st.one_of(st.sampled_from(VALUES), st.text(max_size=20))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(PATHS), pairs=st.lists(st.tuples(keys, values), max_size=5))
def test_no_query_breaks_it(page, path, pairs):
    reply = page.get(path, params=[(key, value.encode("utf-8", "ignore").decode()) for key, value in pairs])
    assert reply.status_code in {200, 400}, (path, pairs)


def test_no_bytes_break_the_server(server):
    chosen = random.Random(3)
    letters = [chr(one) for one in range(33, 127) if chr(one) != "#"]
    for _ in range(300):
        noise = "".join(chosen.choices([*letters, "%ff", "%00", "%0d%0a", "[", "]", "&", "="], k=chosen.randint(1, 60)))
        path = chosen.choice(PATHS[1:])
        status = raw(server, f"GET {path}?{noise} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert 200 <= status < 500, noise
    for line in ("GET /../../etc/passwd", "GET /static/../app.py", "GET /static/%2e%2e%2fapp.py", "GET //etc/passwd"):
        assert raw(server, f"{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == 404
    assert raw(server, "GET / HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n") < 500
    assert server.get("/health").json() == {"status": "ok"}


def raw(client, request):
    """The status of a request sent as it stands, with no library to mend it."""
    with socket.create_connection((client.base_url.host, client.base_url.port), 10) as line:
        line.sendall(request.encode("latin-1"))
        return int(line.recv(4096).split()[1])


@pytest.mark.parametrize("file", ["products/jobs.parquet", "levels/place.parquet", "manifest.json"])
def test_an_altered_release_refuses_the_start(bench, release, browse, file):
    altered = bench.copy(release, f"altered-{file.replace('/', '-')}")
    content = bytearray((altered / file).read_bytes())
    place = content.index(b'"sha256": "') + 20 if file == "manifest.json" else len(content) // 2
    content[place] ^= 1
    (altered / file).write_bytes(content)
    with pytest.raises(sf.ReleaseError):
        browse([release, altered])


def test_refuses_nothing_and_the_same_twice(release, browse):
    with pytest.raises(sf.ReleaseError, match="no release to serve"):
        browse([])
    with pytest.raises(sf.ReleaseError, match="given twice"):
        browse([release, release])


def test_a_rehearsal_is_seen_from_this_machine_alone(rehearsal, release, browse):
    private, public = browse([rehearsal]), browse([release])
    assert open_release(rehearsal).manifest.releasable is False
    for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
        assert private.get("/health", headers={"Host": host}).status_code == 200
    assert private.get("/").headers["cache-control"] == "no-store"
    for headers in ({"Host": "evil.example"}, {"Host": "10.0.0.1"}, {"Host": ""}, {"X-Forwarded-For": "10.0.0.1"}):
        assert private.get("/health", headers=headers).status_code == 403
        assert public.get("/health", headers=headers).status_code == (400 if headers.get("Host") == "" else 200)


def test_knows_loopback_addresses():
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", "")))
