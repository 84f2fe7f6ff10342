"""Run: the application on a port, in worker processes that can only read."""

import errno
import gc
import multiprocessing
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pyarrow as pa
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server import MPServer
from starlette.types import ASGIApp

from sfumato.errors import ReleaseError
from sfumato.serve import sandbox
from sfumato.serve.app import keyed, over
from sfumato.serve.buckets import shared_buckets
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Running
from sfumato.serve.loopback import is_loopback
from sfumato.serve.memory import ask_one_by_one, give_back
from sfumato.serve.watching import Watching

STOPS_WITHIN = 10
"""Seconds that a server told to stop gives to the requests that run."""

Ready = Callable[[str], None]
Opening = Callable[[], Catalogue]
_TRIES = 100
# Connections, not requests: idle ones cost little, and one that is not accepted cannot even be refused in words.
_CONNECTIONS = 4_096
_HEADER_MILLISECONDS = 10_000
# What one connection may hold of a request's head or of a reply's part; the longest address and common headers fit.
_BUFFER_BYTES = 131_072


def serve(  # noqa: PLR0913 - each is an option of the command
    folders: Sequence[Path | str],
    host: str = "127.0.0.1",
    port: int = 8000,
    base_path: str = "",
    ready: Ready | None = None,
    *,
    next_free: bool = False,
    workers: int = 1,
    running: Running | None = None,
) -> None:
    """Serve releases until SIGTERM or SIGINT; `ready` is called with the address once the server answers.

    A server told to stop takes no new connection, finishes what runs and ends within `STOPS_WITHIN` seconds. A worker
    that dies is started again; one that dies at once again ends the server.
    """
    if workers < 1:
        raise ReleaseError(f"{workers} workers were asked for; a server needs at least 1.")
    with suppress(OSError, AttributeError, TypeError):
        ask_one_by_one()  # what is let go here after the opening is not inherited
    catalogue = _admitted(folders, host)
    running = _with_key(running or Running(), catalogue)
    over(catalogue, base_path, running)
    port = _free_port(host, port, next_free=next_free)
    loader = partial(_application, _opening(catalogue, folders, host), base_path, _of_each(running, workers))
    del catalogue
    _freed()
    gc.freeze()  # a search for cycles would write to what the workers share
    server = _server(_numeric(host), port, workers)
    with _signals_kept(), _announced(_numeric(host), port, keyed(base_path, running.key), ready):
        try:
            server.serve(target_loader=loader, wrap_loader=False)
        except SystemExit:
            # Ctrl-C reaches the workers too, and one that stopped first is no failure.
            if not server.interrupt_signal:
                raise ReleaseError(
                    "The server stopped, as a worker could not go on; were the releases changed, or is memory short?"
                ) from None


def _server(address: str, port: int, workers: int) -> MPServer:
    return MPServer(
        "sfumato.serve",
        address=address,
        port=port,
        interface=Interfaces.ASGINL,
        workers=workers,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=_HEADER_MILLISECONDS, max_buffer_size=_BUFFER_BYTES),
        websockets=False,
        backpressure=_CONNECTIONS,
        log_enabled=False,
        respawn_failed_workers=True,
        workers_kill_timeout=STOPS_WITHIN,
    )


def _opening(catalogue: Catalogue, folders: Sequence[Path | str], host: str) -> Opening:
    """How a worker has the releases: as they are here, once in memory for all, where workers are forked.

    What was verified is what is served, also by a worker that is started again later. Where workers start empty, each
    opens the releases itself.
    """
    if multiprocessing.get_start_method() == "fork":
        return lambda: catalogue
    return partial(_admitted, tuple(Path(folder).resolve() for folder in folders), host)


def _of_each(running: Running, workers: int) -> Running:
    """How each of several workers is run: what one client may ask of a server does not grow with its workers."""
    buckets = shared_buckets(workers) if multiprocessing.get_start_method() == "fork" else None
    return replace(running, limits=running.limits.of_each(workers), buckets=buckets)


def _application(opening: Opening, base_path: str, running: Running) -> ASGIApp:
    """What a worker serves, with the sandbox closed behind it."""
    give_back()
    application = Watching(opening(), lambda catalogue: over(catalogue, base_path, running))
    _freed()
    # What is loaded stays, and is left out: the search for cycles, which hold what cut off replies left, is short then.
    gc.freeze()
    gc.collect()
    sandbox.close()
    return application


def _freed() -> None:
    """Give back the memory that reading the releases took and no longer needs: half of it, for a large release."""
    gc.collect()
    pa.default_memory_pool().release_unused()


def _with_key(running: Running, catalogue: Catalogue) -> Running:
    """A server of what is not for publication has a new key at every start."""
    return replace(running, key=secrets.token_urlsafe(16)) if catalogue.private else running


def _admitted(folders: Sequence[Path | str], host: str) -> Catalogue:
    """The releases, verified; one that is not for publication only where this machine alone can see it."""
    catalogue = Catalogue.open(folders)
    for edition in catalogue.editions:
        if edition.private and not is_loopback(host):
            raise ReleaseError(
                f"The release {edition.release.folder} is not for publication ({edition.release.manifest.why}), so it "
                f"is not served on {host}, where others could see it; serve it on 127.0.0.1."
            )
    return catalogue


def _free_port(host: str, port: int, *, next_free: bool) -> int:
    if not 1 <= port <= 65535:
        raise ReleaseError(f"Port {port} was asked for; a port is a number from 1 to 65535, for example 8000.")
    last = min(port + _TRIES, 65535) if next_free else port
    for candidate in range(port, last + 1):
        if not _taken(host, candidate):
            return candidate
    raise ReleaseError(f"Port {port} on {host} is taken by another program; choose another with --port.")


def _taken(host: str, port: int) -> bool:
    """Whether somebody listens there; asked by binding unshared, as two servers on one port would split the readers."""
    address = _numeric(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((address, port))
        except PermissionError:
            raise ReleaseError(f"Port {port} needs more rights than this user has; choose one above 1023.") from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return True
            raise ReleaseError(f"The server cannot listen on {host}: {error.strerror}.") from None
    return False


def _numeric(host: str) -> str:
    """The address of a host, as the server binds addresses and not names."""
    if host.lower() == "localhost":
        return "127.0.0.1"
    try:
        return str(socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        raise ReleaseError(f"The host '{host}' is not known; give an address of this machine, as 127.0.0.1.") from None


@contextmanager
def _signals_kept() -> Iterator[None]:
    """The signals that the server takes over are given back when it has stopped."""
    taken = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {one: signal.getsignal(one) for one in taken}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _announced(address: str, port: int, base_path: str, ready: Ready | None) -> Iterator[None]:
    """While the server starts, ask it until it answers, and then say where."""
    stopped = threading.Event()
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - what to call, not where to listen
    thread = threading.Thread(target=_announce, args=(here, port, base_path, ready, stopped), daemon=True)
    if ready is not None:
        thread.start()
    try:
        yield
    finally:
        stopped.set()


def _announce(address: str, port: int, base_path: str, ready: Ready, stopped: threading.Event) -> None:
    while not stopped.wait(0.05):
        if _answers(address, port, base_path):
            shown = f"[{address}]" if ":" in address else address
            ready(f"http://{shown}:{port}{base_path}/")
            return


def _answers(address: str, port: int, base_path: str) -> bool:
    with suppress(OSError, HTTPException), closing(HTTPConnection(address, port, timeout=2)) as connection:
        connection.request("GET", f"{base_path}/health")
        return connection.getresponse().status == 200
    return False
