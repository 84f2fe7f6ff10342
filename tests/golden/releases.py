"""Seeded rehearsals of every shipped plan on small synthetic data, and the hashes of what they publish."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.plan.toml import SHIPPED
from sfumato.release import open_release, seal
from sfumato.synth import write

ENGINES = ("arrays", "duckdb")
SEED = 20_261_119
NEXT_PERIOD = "2026-Q2"
"""The first plan is released for this period too, so that there is a series."""
CREATED, SOFTWARE = "2026-01-01T00:00:00Z", "sfumato golden"
"""What two rehearsals with one seed would otherwise differ in."""


@dataclass(frozen=True)
class Subject:
    """A shipped plan, the generator of its data, and the files that its tables are in."""

    plan: str
    generator: str
    rows: int
    file: str = ""
    tables: tuple[str, ...] = ()
    mode: str = "sound"
    engines: tuple[str, ...] = ENGINES

    def write_data(self, folder: Path) -> Path:
        """Write the synthetic data; return the plan that reads them."""
        home = folder / self.generator
        if not home.exists():
            write(self.generator, home, self.rows)
        shipped = SHIPPED / f"{self.plan}.toml"
        beside = home / (self.file or f"{self.plan}.toml")
        return beside if beside.exists() else shipped

    def open_data(self, folder: Path, plan: Plan, engine: str = "") -> Microdata:
        """The data of the plan, read by the named engine or by the one that is chosen."""
        home = folder / self.generator
        if not self.tables:
            return Microdata.open(next(home.glob(f"{self.generator}*.parquet")), plan.schema, engine)
        files = (home / f"{table}.parquet" for table in self.tables)
        sources = {path.stem: path if path.exists() else home / "areas" / path.name for path in files}
        return Microdata.open(sources, plan.schema, engine)


SUBJECTS = (
    Subject("employment", "employment", 2_000),
    Subject("ors", "ors", 1_500),
    Subject("ors-cube", "ors", 1_500),
    Subject("ors-as-published", "ors-paper", 182, mode="as_published", engines=("duckdb",)),
    Subject("qcew", "qcew", 300, file="qcew-2026q1.toml"),
    Subject("qcew-suppressed", "qcew", 300, file="qcew-suppressed-2026q1.toml"),
    Subject("lodes", "lodes", 1_500, tables=("jobs", "workers", "workplaces")),
    Subject("iab", "iab", 1_500, tables=("people", "members")),
    Subject("iab-levels", "iab", 1_500, tables=("people", "members")),
    Subject("atlas", "atlas", 2_000),
    Subject("atlas-private", "atlas", 2_000),
    Subject("pseo", "pseo", 2_000),
    Subject("veo", "veo", 2_000),
    Subject("umetrics", "umetrics", 1_000),
    Subject("umetrics-mose", "umetrics", 1_000),
)


def rehearse(subject: Subject, data: Path, out: Path, engine: str = "", period: str = "") -> Path:
    """Rehearse the plan with the fixed seed; return the folder of its release, with a fixed time in its manifest."""
    plan = Plan.read(subject.write_data(data))
    plan = replace(plan, period=period) if period else plan
    options = Options(rehearsal=SEED, mode=subject.mode)
    run(plan, subject.open_data(data, plan, engine), None, out, options)
    manifest = open_release(out).manifest
    seal(out, manifest.model_copy(update={"created": CREATED, "software": SOFTWARE}))
    return out


def hash_files(folder: Path) -> dict[str, str]:
    """The hash of every file of a release."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def rehearse_all(data: Path, out: Path, engine: str = "") -> dict[str, Path]:
    """Rehearse every plan that the engine can read; return the folders by plan, and a second period of one."""
    out.mkdir(parents=True)
    subjects = [subject for subject in SUBJECTS if engine in {"", *subject.engines}]
    folders = {subject.plan: rehearse(subject, data, out / subject.plan, engine) for subject in subjects}
    series = f"{SUBJECTS[0].plan} of {NEXT_PERIOD}"
    return folders | {series: rehearse(SUBJECTS[0], data, out / "next", engine, NEXT_PERIOD)}
