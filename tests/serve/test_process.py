"""The server as a process: it starts when all is well, can only read, and stops when told."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

import sfumato as sf
from sfumato.serve import serve
from sfumato.serve.run import _free_port

# Answers /probe from inside the worker: it runs the expression in the query and says what came of it.
PROBE = """
import sfumato.serve.run as run
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from urllib.parse import unquote
plain = run.over
def probing(*given):
    inner = plain(*given)
    async def application(scope, receive, send):
        if scope["path"] != "/probe":
            return await inner(scope, receive, send)
        try:
            said = repr(eval(unquote(scope["query_string"].decode())))
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        await PlainTextResponse(said)(scope, receive, send)
    return application
run.over = probing
"""
OPEN_AGAIN = PROBE + "run.sandbox.close = lambda: None\n"


def probes(folder, port):
    """What no public server has to do, each as an expression."""
    file = folder / "written"
    return {
        "write": f"open({str(file)!r}, 'w').close()",
        "append": f"open({str(file)!r}, 'a').close()",
        "os.open": f"__import__('os').open({str(file)!r}, 65)",
        "pathlib": f"__import__('pathlib').Path({str(file)!r}).write_text('x')",
        "mkdir": f"__import__('os').mkdir({str(folder / 'made')!r})",
        "rename": f"__import__('os').rename({str(file)!r}, {str(file)!r})",
        "remove": f"__import__('os').remove({str(file)!r})",
        "subprocess": "__import__('subprocess').run(['true'])",
        "system": "__import__('os').system('true')",
        "spawn": "__import__('os').posix_spawn('/bin/true', ['true'], {})",
        "fork": "__import__('os').waitpid(__import__('os').fork() or __import__('os')._exit(0), 0)",
        "connect": f"__import__('socket').create_connection(('127.0.0.1', {port})).close()",
        "lookup": "__import__('socket').getaddrinfo('127.0.0.1', 80)",
    }


def probed(client, expression):
    """What an expression gives inside the worker."""
    return client.get(f"/probe?{quote(expression, safe='')}").text


@pytest.fixture
def listener():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_a_worker_can_only_read(serving, release, tmp_path, listener):
    with serving([release], PROBE) as client:
        for name, probe in probes(tmp_path, listener).items():
            said = probed(client, probe)
            assert said.startswith("PermissionError: The server is read-only"), (name, said)
        assert not list(tmp_path.iterdir())
        assert probed(client, "open('/dev/null').read()") == "''"
        assert client.get("/jobs-survey~jobs").status_code == 200
        assert client.get("/openapi.json").status_code == 200


def test_the_same_probes_succeed_without_the_sandbox(serving, release, tmp_path, listener):
    with serving([release], OPEN_AGAIN) as client:
        for name, probe in probes(tmp_path, listener).items():
            said = probed(client, probe)
            assert "Error" not in said, (name, said)
        assert (tmp_path / "made").is_dir()


def test_serves_with_the_confidential_folder_deleted(serving, release, source, tmp_path):
    shutil.copytree(source, tmp_path / "sfumato", ignore=shutil.ignore_patterns("confidential", "__pycache__"))
    assert not (tmp_path / "sfumato" / "confidential").exists()
    with serving([release], PROBE, source=tmp_path) as client:
        assert client.get("/api/v2/tables/jobs-survey~jobs/data?valueCodes[sex]=*").status_code == 200
        assert client.get("/jobs-survey~jobs").status_code == 200
        loaded = probed(client, "sorted(__import__('sys').modules)")
        where = probed(client, "__import__('sfumato').__file__")
    assert str(tmp_path) in where
    assert "'sfumato.query.engine'" in loaded
    for part in ("confidential", "mechanisms", "statistics", "draws", "plan", "calibrate", "synth", "cli"):
        assert f"'sfumato.{part}" not in loaded
    for engine in ("duckdb", "numba", "scipy", "mpmath"):
        assert f"'{engine}'" not in loaded


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_stops_when_told_and_says_nothing_by_itself(rehearsal, stop):
    program = (
        f"import os, sys; from sfumato.serve import serve; stop = lambda url: os.kill(os.getpid(), {stop.value}); "
        f"serve(sys.argv[1:], host='localhost', port={free_port()}, next_free=True, ready=stop)"
    )
    command = [sys.executable, "-c", program, rehearsal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_refuses_a_taken_port_and_no_port(release, listener):
    with pytest.raises(sf.ReleaseError, match=f"Port {listener} on 127.0.0.1 is taken by another program"):
        serve([release], port=listener)
    assert listener < _free_port("127.0.0.1", listener, next_free=True) <= listener + 100
    for port in (0, -1, 70_000):
        with pytest.raises(sf.ReleaseError, match="a port is a number from 1 to 65535"):
            serve([release], port=port)


def test_refuses_a_port_that_another_server_holds(server, release):
    with pytest.raises(sf.ReleaseError, match="is taken by another program"):
        serve([release], port=server.base_url.port)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_refuses_a_rehearsal_off_loopback(rehearsal, release, host):
    with pytest.raises(sf.ReleaseError, match="not for publication"):
        serve([release, rehearsal], host=host, port=free_port())


def test_refuses_a_host_that_is_not_here(release):
    with pytest.raises(sf.ReleaseError, match=r"cannot listen on 192\.0\.2\.1"):
        serve([release], host="192.0.2.1", port=free_port())
    with pytest.raises(sf.ReleaseError, match="is not known"):
        serve([release], host="no such host", port=free_port())


SPOILED = """
import os, sys, sfumato.serve.run as run
plain = run._free_port
def spoiled(*args, **more):
    path = sys.argv[1] + "/plan.toml"
    content = open(path, "rb").read()
    open(path, "wb").write(content[:-1] + bytes([content[-1] ^ 1]))
    os.remove(sys.argv[1] + "/products/jobs.parquet")
    return plain(*args, **more)
run._free_port = spoiled
"""


def test_what_was_verified_is_what_is_served_whatever_becomes_of_the_folder(serving, bench, release, page):
    """Workers have the releases from the process that verified them, and a worker that is started again has, too."""
    folder = bench.copy(release, "turning")
    asked = "/api/v2/tables/jobs-survey~jobs/data?outputFormat=csv"
    listed = page.get("/api/v2/files/jobs-survey").json()
    (plan,) = ("/files/" + one["href"].partition("/files/")[2] for one in listed["files"] if one["name"] == "plan.toml")
    with serving([folder], SPOILED) as server:
        assert server.get(asked).text == page.get(asked).text
        assert server.get(plan).status_code == 404, "not of the hash in its address any more"
        for pid in children(server.process.pid):
            os.kill(pid, signal.SIGKILL)
        assert again(server, asked).status_code == 200
        assert server.get(plan).status_code == 404


def children(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def again(server, address):
    """The reply of a server whose worker is on its way."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            return server.get(address)
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("no worker came back")


def test_workers_that_are_not_forked_open_the_releases_themselves(serving, release, page):
    """Where a system starts them empty: slower, and the same answers."""
    asked = "/api/v2/tables/jobs-survey~jobs/data?outputFormat=csv"
    with serving([release], "import multiprocessing; multiprocessing.set_start_method('spawn')") as server:
        assert server.get(asked).text == page.get(asked).text
