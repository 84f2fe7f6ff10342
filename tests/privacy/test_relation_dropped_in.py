"""Adding a relation touches new files only: dropped into its folder it is found, refused by what cannot hide it, and,
with a mechanism that can, priced, run, audited, assessed, tabulated, answered and served."""

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contract_neighbours import ADDS, DISTANCES, Data, Rows, complaints
from typer.testing import CliRunner

import sfumato as sf
from sfumato import mechanisms
from sfumato.cli.main import app
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.audit import audit_plan
from sfumato.draws import SeededDraws
from sfumato.errors import LedgerError, PlanError, PromiseError
from sfumato.plugins import found
from sfumato.privacy import Unbounded, neighbours
from sfumato.schema import Attribute, Levels, Table
from sfumato.serve import app as served

DROPPED = Path(__file__).parent / "dropped"
PLAN = """
name = "workforce"
[data]
unit = "job"
[attributes.place]
levels = ["north", "south"]
of = "establishment"
[attributes.sex]
levels = ["f", "m"]
of = "worker"
[hidden]
neighbours = "grown-within"
unit = "establishment"
id = "employer"
alpha = "0.1"
[limit]
epsilon = "2"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "ladder", epsilon = "1" }
"""


@pytest.fixture
def dropped(tmp_path, monkeypatch) -> Iterator[None]:
    """Put the relation and a mechanism of its own where they are searched for, and forget them afterwards."""
    places = ((neighbours, "grown_within"), (mechanisms, "ladder"))
    for package, module in places:
        folder = tmp_path / f"more {module}"
        folder.mkdir()
        (folder / f"{module}.py").write_bytes((DROPPED / f"{module}.py").read_bytes())
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    importlib.invalidate_caches()
    yield
    for package, module in places:
        sys.modules.pop(f"{package.__name__}.{module}", None)
        vars(package).pop(module, None)


def plan_of(text: str = PLAN) -> sf.Plan:
    return sf.Plan.parse(text, Path("workforce.toml"))


def jobs() -> pa.Table:
    """Three employers, one of them with 400 jobs."""
    employers = {"small": (3, "north"), "middle": (40, "north"), "large": (400, "south")}
    rows = [(name, place) for name, (size, place) in employers.items() for _ in range(size)]
    columns = {"employer": [name for name, _ in rows], "place": [place for _, place in rows]}
    return pa.table(columns | {"sex": ["fm"[number % 2] for number in range(len(rows))]})


def test_without_its_file_the_relation_is_not_there():
    with pytest.raises(PlanError, match="There is no relation 'grown-within'"):
        plan_of()


@pytest.mark.parametrize("name", sorted(found(mechanisms)))
def test_no_mechanism_that_does_not_know_the_move_makes_a_claim(dropped, name):
    """The mutant of the walk: priced as replace-one it was "epsilon 1, ± 4.6", where 200 workers may become 220."""
    mechanism, move = found(mechanisms)[name], plan_of().move(plan_of().measures[0])
    if mechanism.as_published or name in {"noise-infusion", "mose"}:  # it claims nothing for any move, and says so
        assert isinstance(mechanism.loss(move), Unbounded)
        return
    with pytest.raises(PromiseError) as refused:
        mechanism.loss(move)
    said = ("a cell grows by 10% of itself", "square root", '"size-within"', '"loss-by-size"')
    assert any(one in str(refused.value) for one in said)


def test_geometric_is_refused_in_words_by_the_price(dropped):
    with pytest.raises(PromiseError, match="geometric adds noise of one width, and between grown-within neighbours"):
        plan_of(PLAN.replace('mechanism = "ladder"', 'mechanism = "geometric"')).price()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["place"]\nwith', '["place", "sex"]\nwith', "'sex' is of a worker"),
        ('of = "count"', 'of = { statistic = "total", column = "wage", clip = ["0", "9"] }', "measure counts"),
    ],
)
def test_what_alpha_does_not_bound_is_refused(dropped, old, new, said):
    with pytest.raises(PromiseError, match=said):
        plan_of(PLAN.replace(old, new)).price()


def test_two_alphas_never_share_a_ledger(dropped, tmp_path):
    plan = plan_of()
    ledger = Account.create(tmp_path / "ledger", "workforces", plan.hidden, sf.Approximate(9))
    ledger.reserve("first", plan.price().total, plan.hidden, "hash")
    wider = plan_of(PLAN.replace('"0.1"', '"0.2"'))
    with pytest.raises(LedgerError, match=r"alpha 0\.1; the plan hides grown-within, .*, alpha 0\.2"):
        ledger.reserve("second", wider.price().total, wider.hidden, "hash")


class Grown(Rows):
    """Grown-within: one unit has as many rows more as its size allows, in its own cell; others stay as they are."""

    def data_sets(self, values: tuple[int, ...]) -> Iterator[Data]:
        for mine in range(1, 30):
            for other in (0, 1, 25):
                yield (("a", 0, 1),) * mine + (("b", 0, 1),) * other + (("c", 1, 1),) * 7

    def neighbours_of(self, data: Data, values: tuple[int, ...]) -> Iterator[Data]:
        mine = [row for row in data if row[0] == "a"]
        while len(mine) + 1 <= max((1 + self.hidden.alpha) * data.count(mine[0]), data.count(mine[0]) + 1):
            mine.append(mine[0])
            yield (*mine, *(row for row in data if row[0] != "a"))

    def kept(self, data: Data) -> Data:
        return data

    @property
    def domain(self) -> Table:
        return Table((Attribute("cell", Levels.of(range(2)), of=self.hidden.unit),))


def beyond_relative(move, one, other, step):
    """The least alpha that allows every cell's growth, the claimed one where a step of 1 does."""
    del step
    grew = [(min(a, b), max(a, b)) for a, b in zip(one, other, strict=True) if a != b]
    needed = [Fraction(high - low, low) for low, high in grew if high > low + 1]
    return {"alpha": max(needed, default=Fraction(0))}


@pytest.mark.parametrize(("alpha", "said"), [("0.1", []), ("0.25", [])])
def test_the_contract_holds_the_relation_to_its_move(dropped, monkeypatch, alpha, said):
    relation = type(found(neighbours, by="kind")["grown-within"])
    hidden = relation("establishment", "id", alpha)
    move = hidden.move(sf.Count().contribution, Grown(hidden).domain)
    monkeypatch.setitem(DISTANCES, type(move), beyond_relative)
    assert set(ADDS) >= {"count"}
    assert complaints(Grown(hidden)) == said

    class Short(relation):
        def move(self, row, domain):
            return type(move)(super().move(row, domain).alpha * Fraction(9, 10))

    (broken,) = complaints(Grown(Short("establishment", "id", alpha)))
    assert broken.startswith("grown-within, count: alpha is said to be")


def test_it_goes_through_price_run_audit_and_answers(dropped, tmp_path):
    plan = plan_of()
    assert plan.price().total == sf.Approximate(1)
    assert sf.Plan.parse(plan.to_toml(), Path("again.toml")) == plan
    release = run(plan, Microdata.open(jobs(), plan.schema), None, tmp_path / "release", Options(rehearsal=5))
    assert release.manifest.promise.words.startswith("How many rows any one establishment has, within a factor of 1.1")
    assert release.manifest.promise.near
    south = sf.open(tmp_path / "release").total({"place": "south"})
    assert 400 / 1.1**20 < south.value < 400 * 1.1**20, "all 400 rows of the large one count, though it has an id"
    assert south.value > 100
    assert "the number itself" in south.se.reason

    audits = audit_plan(plan, samples=20_000, draws=SeededDraws(1))
    assert all(one.holds for one in audits)
    assert max(one.bound for one in audits) > 0.85


def sfumato(*words: object) -> str:
    """A command in this process, where the dropped files are."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_it_goes_through_every_command(dropped, tmp_path):
    plan, data, release = tmp_path / "plan.toml", tmp_path / "jobs.parquet", tmp_path / "release"
    plan.write_text(PLAN, encoding="utf-8")
    pq.write_table(jobs(), data)
    priced = sfumato("price", plan)
    assert "How many rows any one establishment has, within a factor of 1.1" in priced
    assert "its error grows with the number itself" in priced
    assert "± is" not in priced
    sfumato("ledger", "open", tmp_path / "ledger", "--population", "employers", "--plan", plan, "--epsilon", "2")
    sfumato("run", plan, "--data", data, "--ledger", tmp_path / "ledger", "--out", release)
    true = json.loads(sfumato("tabulate", plan, "--data", data, "--rows", "place", "--json"))
    assert [cell["estimate"] for cell in true["cells"]] == [43, 400]
    assert "withheld" in sfumato("table", release, "--rows", "place")
    audits = json.loads(sfumato("audit", plan, "--samples", "2000", "--json"))
    assert all(one["holds"] for one in audits)
    sfumato("assess", plan, "--data", data, "--release", release, "--out", tmp_path / "report.html")
    assert "within a factor of 1.1" in (tmp_path / "report.html").read_text("utf-8")


def test_its_release_is_served(dropped, tmp_path):
    plan = plan_of()
    Account.create(tmp_path / "ledger", "employers", plan.hidden, sf.Approximate(2))
    run(plan, Microdata.open(jobs(), plan.schema), tmp_path / "ledger", tmp_path / "release")
    transport = httpx.ASGITransport(served([tmp_path / "release"]))

    async def asked(address: str) -> str:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            reply = await client.get(address, follow_redirects=True)
            assert reply.status_code == 200, reply.text
            return reply.text

    table = asyncio.run(asked("/workforce~jobs?rows=place"))
    assert "its error grows with the number itself" in table
    card = asyncio.run(asked("/privacy/workforce"))
    assert "within a factor of 1.1, or one more or less" in card
    assert "tells which of two values one establishment reports" in card, "who is in the data is not what is hidden"
    assert "All rows of one establishment count. Of what they tell together, only what is said above is hidden." in card
    assert "hidden together" not in card
