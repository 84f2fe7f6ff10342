"""Rows and a plan for them that use every way of reading a column, and a PostgreSQL server of our own."""

import glob
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.confidential import spark_server
from tests.confidential.oracle import levels, make_plan

from sfumato.schema import Attribute, Bands, Missing, Recode
from sfumato.statistics import Count, Total

CODES = ("01", "1", "NO", "a,b", 'say "hi"', "été", "two\nlines", "it's; DROP TABLE coded", "'' OR 1=1")


@pytest.fixture(scope="session")
def jobs():
    """A plan that reads text, integers, bands, a recode and numbers, some of them missing, and rows for it."""
    plan = make_plan(
        levels("occ", *CODES, "never"),
        levels("region", 1, 2, 3, 9),
        levels("school", "1", "2", "none", missing=Missing("none", ("-9",))),
        Attribute("years", Bands("years", (0, 16, 65)).levels(), read=Bands("years", (0, 16, 65))),
        levels("flag", "yes", "no", read=Recode.of("flag", {"true": "yes", "1": "yes", "false": "no", "0": "no"})),
        of=(Count(), Total("wage", clip=("-2", "50"), step="0.5", missing="0")),
    )
    draw = random.Random(7)
    rows = [
        {
            "occ": draw.choice(CODES),
            "region": draw.randint(1, 3),
            "school": draw.choice((1, 2, -9, None)),
            "years": draw.choice((0, 15, 16, 64, 65, 99)),
            "flag": draw.random() < 0.3,
            "wage": draw.choice((None, -3.0, 0.25, 0.75, 1.0, 49.75, 1e6, round(draw.uniform(0, 60), 2))),
            "unused": "2026-01-01",
        }
        for _ in range(400)
    ]
    return plan, rows


@pytest.fixture(scope="session")
def postgres():
    """The address of a private server on a socket; skipped where there are no binaries of one."""
    found = shutil.which("initdb") or next(iter(glob.glob("/usr/lib/postgresql/*/bin/initdb")), None)  # noqa: PTH207
    if found is None:
        pytest.skip("no PostgreSQL server binaries on this machine (initdb, pg_ctl)")
    binaries, folder = Path(os.path.realpath(found)).parent, Path(tempfile.mkdtemp(prefix="sfumato-pg-", dir="/tmp"))
    as_owner = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody")
        as_owner = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]

    def ask(program, *arguments):
        command = [*as_owner, str(binaries / program), "-D", str(folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=60)

    ask("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
    ask("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"-k {folder} -c listen_addresses='' -c fsync=off")
    try:
        yield f"postgresql://postgres:hush@/postgres?host={folder}"
    finally:
        ask("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fill(postgres):
    """Make a table in the server from column definitions and rows, and name it as a source."""
    import psycopg
    from psycopg import sql

    def filled(table, kinds, rows):
        with psycopg.connect(postgres) as connection:
            listed = sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in kinds.items()
            )
            connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), listed))
            holes = sql.SQL(", ").join(sql.Placeholder() for _ in kinds)
            insert = sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(table), holes)
            connection.cursor().executemany(insert, [[row[name] for name in kinds] for row in rows])
        return f"{postgres}#{table}"

    return filled


@pytest.fixture(scope="session")
def spark_home():
    """Where Spark is; the test is skipped, in words, where it or Java or its client lacks."""
    try:
        return spark_server.home()
    except spark_server.NoSpark as lacking:
        pytest.skip(f"{lacking}; records in a cluster are not tested")


@pytest.fixture(scope="session")
def spark(request, tmp_path_factory):
    """The address of a Spark Connect server of our own, or of the one that SFUMATO_SPARK_SERVER names."""
    if running := os.environ.get("SFUMATO_SPARK_SERVER"):
        yield running
        return
    request.getfixturevalue("spark_home")
    with spark_server.served(tmp_path_factory.mktemp("spark")) as address:
        yield address
