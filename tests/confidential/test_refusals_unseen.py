"""Whatever is wrong with the data, a refused run leaves the ledger as it was, and no later public file tells of it."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential import test_framed, test_joined, test_overflow

from sfumato.confidential import Account, Microdata, Tabulation, run
from sfumato.confidential.engines.queries import rules
from sfumato.confidential.tabulate import EMPTY, TOO_LARGE
from sfumato.errors import DataError
from sfumato.mechanisms.square_root import TOO_LARGE as TOO_LARGE_FOR_ROOTS
from sfumato.plan import Plan
from sfumato.privacy import Approximate, Ledger

PLAN = """
name = "trial"
[data]
unit = "job"
{data}
[attributes.sex]
levels = ["f", "m"]
[attributes.age]
bands = [0, 16]
[[impossible]]
sex = "m"
age = "16+"
[hidden]
neighbours = "add-remove"
unit = "firm"
id = "id"
at_most = 2
[limit]
epsilon = "1"
[[measure]]
name = "wages"
of = {{ statistic = "total", column = "w", clip = ["0", "10"] }}
by = ["sex", "age"]
with = {{ mechanism = "geometric", epsilon = "1" }}
"""
SOUND = {
    "sex": ["f", "m", "f", "m"],
    "age": [3, 4, 50, 5],
    "w": [1.0, 2.0, 3.0, 4.0],
    "id": ["a", "a", "b", "c"],
    "k": [1, 2, 3, 4],
}


def rows(**changed):
    return pa.table(SOUND | changed)


def torn(folder):
    pq.write_table(rows(), folder / "torn.parquet")
    content = (folder / "torn.parquet").read_bytes()
    (folder / "torn.parquet").write_bytes(content[:-40])
    return folder / "torn.parquet"


def twice(folder):
    """The same rows in two files, and no key that tells them apart."""
    for name in "xy":
        pq.write_table(rows(), folder / f"{name}.parquet")
    return [folder / "x.parquet", folder / "y.parquet"]


def beside_nothing(folder):
    pq.write_table(rows(), folder / "x.parquet")
    pq.write_table(rows().slice(0, 0), folder / "none.parquet")
    return [folder / "x.parquet", folder / "none.parquet"]


@dataclass(frozen=True)
class World:
    """A plan, sound data and unsound ones; data may be written into a folder first."""

    plan: object
    sound: object
    unsound: object
    said: str = ""
    prepare: object = field(default=lambda folder: None)


def jobs(unsound, said, data='key = "k"'):
    return World(lambda folder: Plan.parse(PLAN.format(data=data), folder / "p.toml"), rows(), unsound, said=said)


def framed(unsound, said):
    def prepare(folder):
        pq.write_table(test_framed.frame_table(), folder / "frame.parquet")

    return World(test_framed.plan_in, pa.table(test_framed.reports()), unsound, said=said, prepare=prepare)


def joined(said, **changed):
    def plan(folder):
        return Plan.parse(test_joined.PLAN, folder / "jobs.toml")

    sound = test_joined.tables(60)
    return World(plan, sound, {**sound, **{name: change(sound[name]) for name, change in changed.items()}}, said=said)


def doubled(table):
    return pa.concat_tables([table, table.slice(0, 1)])


def respelt(table):
    last = table.slice(len(table) - 1)
    other = last.set_column(0, "workplace_id", pa.array([f"{last['workplace_id'][0]} "]))
    return pa.concat_tables([table, other])


PAY = test_overflow.TABLE
LARGE = pa.table({"place": ["a", "b"] * 75_000, "pay": np.full(150_000, 2**47)})

WORLDS = {
    "an unknown code": jobs(rows(sex=["f", "x", "f", "m"]), "not among the declared levels"),
    "no code": jobs(rows(sex=["f", None, "f", "m"]), "not among the declared levels"),
    "below every band": jobs(rows(age=[3, -4, 50, 5]), "not among the declared levels"),
    "no number": jobs(rows(w=["1", "2", "n.a.", "4"]), "missing or no numbers"),
    "a number that is missing": jobs(rows(w=[1.0, None, 3.0, 4.0]), "missing or no numbers"),
    "a number that is none": jobs(rows(w=[1.0, float("nan"), 3.0, 4.0]), "missing or no numbers"),
    "where none can be": jobs(rows(age=[3, 40, 50, 5]), "where the plan says none can be"),
    "a record of no unit": jobs(rows(id=["a", None, "b", "c"]), "name no unit"),
    "a unit in two spellings": jobs(rows(id=["a", "a\t", "b", "c"]), "differ only in spaces"),
    "a key twice": jobs(rows(k=[1, 2, 2, 4]), "some keys stand twice or are missing"),
    "a key that is missing": jobs(rows(k=[1, None, 3, 4]), "some keys stand twice or are missing"),
    "a key of two columns twice": jobs(
        rows(k=[1, 1, 3, 4]), "as others, or lack one of them", data='key = ["id", "k"]'
    ),
    "a key in two spellings": jobs(rows(k=["1", "01", "3", "4"]), "differ only in spaces"),
    "a joined key in two spellings": joined("differ only in spaces", workplaces=respelt),
    "a row in two files": jobs(twice, "stands in more than one source", data=""),
    "a file without rows": jobs(beside_nothing, "holds no rows; leave it out"),
    "no rows at all": jobs(rows().slice(0, 0), EMPTY[:24]),
    "a column that is not there": jobs(rows().drop_columns(["w"]), "w"),
    "a file that breaks off": jobs(torn, "torn.parquet"),
    **{f"of a frame: {said}": framed(pa.table(wrong), said) for said, wrong in test_framed.FAULTS.items()},
    "of a frame: a report too large for its noise": framed(
        pa.table(test_framed.reports() | {"m1emp": [288_230_376_152] * 60}), TOO_LARGE_FOR_ROOTS[:30]
    ),
    "of a joined table: a record that finds no row": joined(
        "find no row in workers", workers=lambda table: table.slice(1)
    ),
    "of a joined table: a key twice": joined("some keys stand twice", workers=doubled),
    "of a table: sums beyond 64 bits": World(
        lambda folder: Plan.parse(PAY, folder / "pay.toml"),
        LARGE.set_column(1, "pay", pa.array(np.ones(150_000))),
        LARGE,
        said=TOO_LARGE[:30],
    ),
}


def published(world, folder, *, refused, engine):
    """The account that the next release states, after a run that was refused or after none."""
    folder.mkdir()
    world.prepare(folder)
    plan, ledger = world.plan(folder), folder / "ledger"
    Account.create(ledger, "population", plan.hidden, plan.limit)
    before = ledger.read_bytes()
    if refused:
        unsound = world.unsound(folder) if callable(world.unsound) else world.unsound
        with pytest.raises(DataError, match=re.escape(world.said)) as said:
            run(plan, Microdata.open(unsound, plan.schema, engine), ledger, folder / "refused")
        assert "stays charged" not in str(said.value)
        assert not list(folder.glob("*refused*"))
    assert ledger.read_bytes() == before, "not a byte of the ledger changed"
    return run(plan, Microdata.open(world.sound, plan.schema), ledger, folder / "good").manifest.ledger


@pytest.fixture(scope="module")
def untried(tmp_path_factory):
    """The account of a release in a world where nobody tried unsound data, once for each plan."""
    known = {}

    def account(world):
        folder = tmp_path_factory.mktemp("untried")
        world.prepare(folder)
        plan = world.plan(folder).to_toml()
        if plan not in known:
            known[plan] = published(world, folder / "not", refused=False, engine="")
        return known[plan]

    return account


@pytest.mark.parametrize("engine", ["", "duckdb"])
@pytest.mark.parametrize("name", WORLDS)
def test_a_refused_run_is_in_no_public_file(name, engine, tmp_path, untried):
    """The account of the next release is the same in a world where nobody tried; only marks drawn at random differ."""
    world = WORLDS[name]
    after = published(world, tmp_path / "tried", refused=True, engine=engine).model_dump()
    never = untried(world).model_dump()
    for account in (after, never):
        assert len(account.pop("head")) == len(account.pop("ledger_id")) == 64
    assert after == never


def test_faults_found_after_the_charge_and_charges_that_were_not_published_would_show(monkeypatch, tmp_path):
    """The control: where either of the two defences is missing alone nothing shows, where both are one bit does."""
    world = WORLDS["an unknown code"]

    def spent(place):
        (tmp_path / place).mkdir()
        plan, ledger = world.plan(tmp_path / place), tmp_path / place / "ledger"
        Account.create(ledger, "population", plan.hidden, Approximate(9))
        with pytest.raises(DataError):
            run(plan, Microdata.open(world.unsound, plan.schema), ledger, tmp_path / place / "refused")
        return run(
            plan, Microdata.open(world.sound, plan.schema), ledger, tmp_path / place / "good"
        ).manifest.ledger.spent

    assert spent("both") == {"epsilon": "1"}
    monkeypatch.setattr(Tabulation, "refuse_faults", lambda self: None)
    assert spent("published alone are counted") == {"epsilon": "1"}
    monkeypatch.setattr(Ledger, "published", property(lambda self: replace(self, charges=self.charges[:-1])))
    assert spent("neither") == {"epsilon": "2"}


def test_every_rule_that_data_can_break_is_among_them():
    """Each rule that is worded in the code is broken by some data above; a new one must be added there.

    Rules of weights are none of these: no release that is charged reads a weight.
    """
    source = Path(rules.__file__).read_text(encoding="utf-8")
    worded = re.findall(r'"((?:some|the same|missing or|below|no whole|too large|Source )[^"]{8,})', source)
    unbroken = [one for one in worded if not any(_begins(world.said, one) for world in WORLDS.values())]
    assert sorted(unbroken) == ["some values are no numbers; clean them.", "some values are {rule}"], (
        "the same rule, less strict"
    )
    assert len(worded) == 19


def _begins(said, worded):
    """Whether a rule says what a world expects; names in its places are left out."""
    return bool(said) and said.split(" workers")[0].split(", 10")[0].removeprefix("whole") in worded
