"""A cache before two replicas, as `deploy/` has it: how much of it the replicas see, and when a withdrawal is seen.

`python -m bench.front --page` starts two `sfumato serve` with two workers each and Debian's nginx with the files of
`deploy/`, and asks mixed requests of it: pages, answers of the API, files in parts, what pages load; some readers can
unpack gzip, and each writes the languages that he reads in one of several ways. Every reader brings a word of his own
in a cookie and other headers, which must be in no reply and in nothing that is kept. Then releases are withdrawn: one
is waited for, of the other the cache is told the keys.
It ends with 1 where something does not hold.
"""

import argparse
import asyncio
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.http import free_port
from bench.page import table
from bench.record import Record, now
from bench.soak import ASSURANCE

DEPLOY = Path(__file__).parent.parent / "deploy"
HOST = "statistics.example"
BASE = "/statistics"
CONNECTIONS = 16
ALMOST_ALL = 0.99
"""What counts as almost wholly from the cache."""
FROM_THE_CACHE = {"HIT", "STALE", "UPDATING", "REVALIDATED"}
"""What nginx says where a reader did not wait for a replica to work something out."""
WORD = "word-of-one-reader"
"""What every reader brings, with a number of his own; it must come to nobody else."""


LANGUAGES = {
    "": "en",
    "en-US,en;q=0.9": "en",
    "fr-CA, fr;q=0.9, en;q=0.5, de;q=0.3": "en",
    "de": "de",
    "de-AT,de;q=0.9,en;q=0.6": "de",
    "pl,de-DE;q=0.7,en-GB;q=0.4": "de",
}
"""What browsers say of their readers' languages, and in which the releases are then shown."""


@dataclass
class Front:
    """nginx before two replicas, and what these have written of requests that reached them."""

    port: int
    cache: Path
    logs: list[Path]

    def reached(self) -> int:
        """Requests that some replica has seen."""
        lines = (line for log in self.logs for line in log.read_text().splitlines())
        return sum("/health " not in line for line in lines if re.match(r"\d{4}-", line))

    def purge(self, keys: list[str]) -> None:
        environment = {**os.environ, "SFUMATO_CACHE": str(self.cache)}
        subprocess.run(["sh", DEPLOY / "purge.sh", *keys], check=True, env=environment)


@contextmanager
def fronted(folder: Path, releases: list[Path]) -> Iterator[Front]:
    """Two replicas and nginx, each a process of its own; nginx with the files of `deploy/` but for places and ports."""
    ports, port, running = [free_port(), free_port()], free_port(), []
    cache, logs = folder / "cache", [folder / f"replica-{place}.log" for place in range(2)]
    options = ["--base-path", BASE, "--proxy", "127.0.0.1", "--origin", f"https://{HOST}", "--workers", "2", "--log"]
    try:
        for own, log in zip(ports, logs, strict=True):
            command = [sys.executable, "-m", "sfumato", "serve", *map(str, releases), "--port", str(own), *options]
            with log.open("w") as written:
                running.append(subprocess.Popen(command, stderr=written))
        for log in logs:
            _until(lambda log=log: "Serving at" in log.read_text())
        (folder / "nginx.conf").write_text(_configured(folder, cache, port, ports))
        running.append(subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "errors"]))
        _until(lambda: _open(port))
        yield Front(port, cache, logs)
    finally:
        for one in reversed(running):
            one.terminate()
            one.wait(20)


def _configured(folder: Path, cache: Path, port: int, ports: list[int]) -> str:
    before = (DEPLOY / "nginx-http.conf").read_text().replace("/var/cache/nginx/sfumato", str(cache))
    for written, own in zip((8000, 8001), ports, strict=True):
        before = before.replace(f"127.0.0.1:{written}", f"127.0.0.1:{own}")
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder}/pid; worker_processes 1; user root;\nevents {{ worker_connections 1024; }}\n"
        f"http {{\n{places}access_log off;\n{before}\nserver {{\nlisten 127.0.0.1:{port};\nkeepalive_requests 100000;\n"
        f"include {DEPLOY}/nginx.conf;\n}}\n}}\n"
    )


def _until(done) -> None:
    end = time.monotonic() + 300
    while not done():
        if time.monotonic() > end:
            raise RuntimeError("What was started did not answer.")
        time.sleep(0.1)


def _open(port: int) -> bool:
    async def tried() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            return False
        writer.close()
        return True

    return asyncio.run(tried())


@dataclass
class Seen:
    """The replies to mixed requests: their statuses, where they came from, and what should not be in them."""

    statuses: Counter[str] = field(default_factory=Counter)
    cached: Counter[str] = field(default_factory=Counter)
    private: Counter[str] = field(default_factory=Counter)
    languages: Counter[tuple[str, str]] = field(default_factory=Counter)
    bodies: dict[tuple[str, ...], set[bytes]] = field(default_factory=dict)

    def take(self, asked: tuple[str, ...], reply: "Reply") -> None:
        """Note a reply to an address, of which a part, packed or not, was asked for by the reader of a language."""
        shed = reply.status in {429, 503} and "retry-after" in reply.headers
        self.statuses["shed" if shed else str(reply.status)] += 1
        self.cached[reply.headers.get("x-cache-status", "-")] += 1
        for name in ("set-cookie", "www-authenticate"):
            self.private[name] += name in reply.headers
        self.private["word"] += WORD.encode() in reply.whole
        if not shed:
            self.bodies.setdefault(asked, set()).add(reply.body)
            if reply.headers["content-type"].startswith("text/html") and "lang=" not in asked[0]:
                self.languages[asked[-1], reply.language] += 1


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes
    whole: bytes

    @property
    def language(self) -> str:
        """The language that a page says it is in."""
        text = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body
        said = re.search(rb'<html lang="([a-z]+)"', text)
        return said[1].decode() if said else ""


async def asked(reader, writer, address: str, **more: str) -> Reply:
    """One request on a connection that stays open."""
    lines = [
        f"GET {address} HTTP/1.1",
        f"Host: {HOST}",
        *(f"{name.replace('_', '-')}: {one}" for name, one in more.items()),
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    status, *fields = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in fields if one)}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Reply(int(status.split()[1]), headers, body, head + body)


async def once(port: int, address: str, **more: str) -> Reply:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    reply = await asked(reader, writer, address, **more)
    writer.close()
    return reply


async def addresses(port: int, series: list[str], attributes: list[str]) -> list[tuple[str, str]]:
    """What readers ask for: an address, and a part of it or ''."""
    pages = [f"{BASE}/", f"{BASE}/api/v2/tables", f"{BASE}/openapi.json"]
    for name in series:
        pages += [f"{BASE}/series/{name}", f"{BASE}/privacy/{name}", f"{BASE}/api/v2/privacy/{name}"]
        for rows in attributes:
            pages += [f"{BASE}/{name}~jobs?rows={rows}&lang={lang}" for lang in ("en", "de")]
            data = f"{BASE}/api/v2/tables/{name}~jobs/data?valueCodes[{rows}]=*"
            pages += [data, f"{data}&outputFormat=csv", f"{data}&outputFormat=parquet"]
    shown = (await once(port, f"{BASE}/{series[0]}~jobs")).body.decode()
    pages += re.findall(rf'(?:href|src)="({BASE}/static/[^"]+)"', shown)
    listed = (await once(port, f"{BASE}/api/v2/files/{series[0]}")).body.decode()
    files = [BASE + "/files/" + one for one in re.findall(r'/files/([0-9a-f]{64}/[\w.]+)"', listed)]
    return [*((one, "") for one in pages), *((one, part) for one in files for part in ("bytes=0-99", "bytes=-64", ""))]


async def mixed(front: Front, known: list[tuple[str, str]], count: int) -> Seen:
    """So many requests, of few readers many and of many readers few, over connections that stay open."""
    seen, left = Seen(), iter(range(count))

    async def reader_of(place: int) -> None:
        chosen = random.Random(place)
        reader, writer = await asyncio.open_connection("127.0.0.1", front.port)
        for number in left:
            address, part = known[min(int(chosen.expovariate(6 / len(known))), len(known) - 1)]
            zipped = "gzip" if chosen.random() < 0.8 else "identity"
            own = {
                "Cookie": f"who={WORD}-{number}",
                "User_Agent": f"{WORD}-{number}",
                "Referer": f"http://{WORD}-{number}",
            }
            written = chosen.choice(list(LANGUAGES))
            more = {"Accept_Encoding": zipped, "Accept_Language": written, **own}
            more |= {"Range": part} if part else {}
            seen.take((address, part, zipped, LANGUAGES[written]), await asked(reader, writer, address, **more))
        writer.close()

    await asyncio.gather(*(reader_of(place) for place in range(CONNECTIONS)))
    return seen


def withdrawn_after(front: Front, folder: Path, shown: list[str], *, told: bool) -> float:
    """Seconds from a withdrawal until every one of some addresses says so to a reader who asks again and again."""
    for address in shown:
        asyncio.run(once(front.port, address))
    command = [sys.executable, "-m", "sfumato", "withdraw", folder, "--why", "A file was read twice."]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    start, left = time.monotonic(), list(shown)
    if told:
        time.sleep(2)
        front.purge(re.findall(r"sfumato-[a-z0-9-]+", said))
    while left and time.monotonic() - start < 120:
        left = [one for one in left if b"read twice" not in asyncio.run(once(front.port, one)).body]
        time.sleep(0.2)
    return float("inf") if left else time.monotonic() - start


def held_of_readers(cache: Path) -> tuple[int, int]:
    """How many replies are kept, and how many of them hold something of a reader or set a cookie."""
    kept = [path.read_bytes() for path in cache.rglob("*") if path.is_file()]
    return len(kept), sum(WORD.encode() in one or b"set-cookie" in one.lower() for one in kept)


def claims(seen: Seen, reached: int, kept: tuple[int, int], waited: float, told: float) -> dict[str, tuple[str, bool]]:
    count = sum(seen.statuses.values())
    odd = {status: number for status, number in seen.statuses.items() if status not in {"200", "206", "shed"}}
    waited_for = sum(number for how, number in seen.cached.items() if how not in FROM_THE_CACHE)
    read_in = dict(sorted(seen.languages.items()))
    several = sum(len(bodies) > 1 for bodies in seen.bodies.values())
    share = f"{waited_for:,} waited for a replica ({waited_for / count:.2%})"
    return {
        "mixed requests are served almost wholly from the cache": (
            f"{count:,} requests of {len(seen.bodies)} kinds, {share}; the replicas saw {reached:,}",
            waited_for <= (1 - ALMOST_ALL) * count),
        "all are answered, or shed in words": (
            f"{seen.statuses['shed']} shed, {odd or 'none'} else but 200 and 206", not odd),
        "whoever asks the same has the same bytes": (f"{several} kinds with several", not several),
        "pages that say no language are in that of their reader": (
            ", ".join(f"{number:,} in {shown} to readers of {read}" for (read, shown), number in read_in.items()),
            {one for one, _ in read_in} == {*LANGUAGES.values()} and all(read == shown for read, shown in read_in)),
        "nothing of a reader is in a reply or kept, and no cookie is set": (
            f"{seen.private.total()} replies, {kept[1]} of {kept[0]:,} kept", not seen.private.total() + kept[1]),
        "a withdrawal is seen within a minute": (f"{waited:.0f} s, if nobody tells the cache", waited < 60),
        "and at once where the cache is told its keys": (f"{told:.1f} s, of which 2 are waited", told < 15),
    }  # fmt: skip


def measured(folder: Path, releases: list[Path], count: int) -> dict[str, tuple[str, bool]]:
    """Two releases behind the front: mixed requests of both, then each is withdrawn."""
    from sfumato.release import read_manifest

    manifests = [read_manifest(one)[1] for one in releases]
    series, attributes = [one.name for one in manifests], [one.name for one in manifests[0].attributes]
    with fronted(folder, releases) as front:
        known = asyncio.run(addresses(front.port, series, attributes))
        before = front.reached()
        seen = asyncio.run(mixed(front, known, count))
        reached, kept = front.reached() - before, held_of_readers(front.cache)
        shown = [
            [one for one, part in known if f"/{name}" in one and not part and "parquet" not in one] for name in series
        ]
        text = [[one for one in each if "openapi" not in one][:6] for each in shown]
        told = withdrawn_after(front, releases[1], text[1], told=True)
        waited = withdrawn_after(front, releases[0], text[0], told=False)
        return claims(seen, reached, kept, waited, told)


def made(folder: Path) -> list[Path]:
    """Two small releases of series of their own."""
    from bench import soc

    return [soc.made(folder / name, large=False, name=f"bench-{name}") for name in ("jobs", "pay")]


def page(begun, count: int, told: dict[str, tuple[str, bool]]) -> str:
    one, (when, before) = Record.here({}).machine, begun
    version = (
        subprocess.run(["nginx", "-v"], capture_output=True, text=True, check=True).stderr.strip().partition(": ")[2]
    )
    rows = [(claim, measured, "yes" if held else "**no**") for claim, (measured, held) in told.items()]
    return (
        f"`python -m bench.front --count {count}`: two replicas of two workers over two releases of a million cells, "
        f"{version} before them with the files of `deploy/`, on {one['processor']}, {one['cores']} cores, "
        f"{one['memory']}, shared with the readers; {when}, load average {before[0]} before it.\n\n"
        f"{table(('what must hold', 'measured', 'held'), rows)}"
    )


def written(text: str) -> None:
    start, end = "<!-- measured: front -->", "<!-- end: front -->"
    before, _, rest = ASSURANCE.read_text(encoding="utf-8").partition(start)
    ASSURANCE.write_text(f"{before}{start}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.front", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many requests are asked")
    parser.add_argument("--page", action="store_true", help="write the table into docs/assurance.md")
    given, begun = parser.parse_args(), now()
    if shutil.which("nginx") is None:
        sys.exit("There is no nginx here; apt-get install nginx-light.")
    with tempfile.TemporaryDirectory() as folder:
        told = measured(Path(folder), made(Path(folder)), given.count)
    text = page(begun, given.count, told)
    print(text)
    if given.page:
        written(text)
    if not all(held for _, held in told.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
