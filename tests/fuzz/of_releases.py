"""Releases that were damaged and sealed again: opened, asked and shown, or refused; flips of single bits are found."""

import asyncio
import atexit
import json
import math
import shutil
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from urllib.parse import quote

import httpx
import pyarrow.parquet as pq
from tests.conftest import SMALL, small_rows
from tests.families import family_release
from tests.fuzz.damage import damaged, damaged_bytes
from tests.fuzz.trials import WrongError
from tests.release.strangers import as_written, packed

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.errors import SfumatoError
from sfumato.plan import Plan
from sfumato.release import open_release, verify
from sfumato.schema import Box
from sfumato.serve import app

DATA = Path(__file__).parents[1] / "release" / "data"
TABLES = "/api/v2/tables"
PAGES = ("/", "/budget", "/help", "/api")


@cache
def ours() -> tuple[Path, ...]:
    """Releases of today, charged, a family of tables, and of before: tables, steps, a frame, a sparse table."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz."))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    plan = Plan.parse(SMALL, Path("small.toml"))
    Account.create(folder / "ledger", "jobs", plan.hidden, sf.Approximate(20))
    run(plan, Microdata.open(small_rows(), plan.schema), folder / "ledger", folder / "release", Options())
    return folder / "release", family_release(folder / "family"), *sorted(DATA.iterdir())


def sealed(number: int) -> None:
    """A manifest or a file was damaged by somebody who can seal; what opens is right."""
    chosen = Random(number)
    with tempfile.TemporaryDirectory(prefix="fuzz.") as folder:
        release = _sealed(chosen, Path(folder) / "theirs")
        verdict = verify(release)
        engine = sf.open(release)
        if not verdict.intact:
            raise WrongError("a release that is not intact was opened")
        refuse_wrong(engine, release)
        show(release)


def _sealed(chosen: Random, to: Path) -> Path:
    folder = chosen.choice(ours())
    match chosen.randrange(3):
        case 0:
            return packed(folder, to, lambda said: as_written(damaged(said, chosen)))
        case 1:
            return packed(folder, to, lambda said: damaged_bytes(as_written(said), chosen))
        case _:
            return packed(folder, to, files=lambda there: _damage_file(there, chosen))


def _damage_file(folder: Path, chosen: Random) -> None:
    named = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json")
    path = chosen.choice(named)
    path.write_bytes(damaged_bytes(path.read_bytes(), chosen))


def refuse_wrong(engine, folder: Path) -> None:
    """Every product is the sum of its own column, read here by another way, with an error that is a number."""
    for line in engine.release.manifest.products:
        product = engine.release.products[line.name]
        values = pq.read_table(folder / line.file, columns=["value"])["value"].to_pylist()
        parts = [values[part] for part in product.domain.slices] if line.kind == "tables" else [values]
        if any(product.total(Box()) != sum(part) for part in parts):
            raise WrongError(f"{line.name} is {product.total(Box())}, and its file sums to {list(map(sum, parts))}")
    for name in engine.statistics:
        try:
            total = engine.total(of=name)
        except SfumatoError:
            continue
        margin = total.moe(0.9) if not isinstance(total.noise_variance, sf.Withheld) else 0.0
        if not math.isfinite(total.value) or not 0 <= margin < math.inf:
            raise WrongError(f"{name} is {total.value} with a margin of {margin}")
        engine.table(engine.product(name).attributes[:1] and [engine.product(name).attributes[0].name], of=name)


def show(folder: Path) -> None:
    """Its pages and the answers of the interface are shown or refused, never broken."""

    async def asked() -> dict[str, int]:
        transport = httpx.ASGITransport(app([folder]))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            listed = (await client.get(TABLES)).json().get("tables", ())
            tables = [quote(one["id"], safe="~") for one in listed]
            pages = [*PAGES, *(f"/privacy/{key}" for key in {one.split("~")[0] for one in tables})]
            pages += [
                page for one in tables for page in (f"/{one}", f"{TABLES}/{one}/data", f"{TABLES}/{one}/metadata")
            ]
            return {page: (await client.get(page)).status_code for page in pages}

    broken = {page: status for page, status in asyncio.run(asked()).items() if status >= 500}
    if broken:
        raise WrongError(f"pages answered {broken}")


def flipped(number: int) -> None:
    """One bit of a release is turned over, and nothing is sealed: it is found, or it is another release by its id."""
    chosen = Random(number)
    with tempfile.TemporaryDirectory(prefix="fuzz.") as folder:
        release = Path(folder) / "theirs"
        shutil.copytree(chosen.choice(ours()), release)
        before = verify(release).id
        path = chosen.choice(sorted(path for path in release.rglob("*") if path.is_file()))
        content = bytearray(path.read_bytes())
        content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        path.write_bytes(content)
        opened = open_release(release)
        if opened.id == before:
            raise WrongError(f"a flip in {path.name} was not found")
        json.loads((release / "manifest.json").read_bytes())
