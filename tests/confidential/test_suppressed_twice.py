"""Two releases with withheld cells of the same data: made jointly, or refused; several measures share a pattern."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.confidential.test_suppressed_run import TABLES, read, released, shops, told, world  # noqa: F401 - a fixture
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.linked_system import LinkedSystem
from sfumato.errors import DataError, PlanError, ReleaseError
from sfumato.suppression import Published, audit

SENSITIVE = ("1a", "s")
FORCED = TABLES.replace("minimum = 3\n", 'minimum = 3\nforced = [{ trade = "1c", place = "n" }]\n')
"""Publishes a cell that the first release withholds to protect the sensitive one."""


def second(world, text, *beside, out="second", data="shops.parquet", ledger=None):  # noqa: F811
    plan = read(world, text)
    options = Options(None if ledger else 2, beside=tuple(world / one for one in beside))
    return run(plan, Microdata.open(world / data, plan.schema), ledger, world / out, options)


def known_of_both(one, other):
    """What anybody works out of the sensitive cell with both releases at hand."""
    system = LinkedSystem.of(one.products["pay"].domain)
    both = []
    for release in (one, other):
        values, withheld = release.products["pay"].told(system.keys)
        both.append(Published.of(system.linked, np.where(withheld, np.nan, values.astype(float))))
    return audit(both[0].again(both[1])).interval(
        system.linked.find(dict(zip(("trade", "place"), SENSITIVE, strict=True)))
    )


def test_two_patterns_that_are_safe_alone_tell_a_cell_together_and_are_refused(world):  # noqa: F811
    first, alone = released(world, out="first"), second(world, FORCED, out="alone")
    low, high = known_of_both(first, alone)
    assert low == high == sum(row["pay"] for row in shops() if (row["trade"], row["place"]) == SENSITIVE)
    with pytest.raises(DataError, match=r"cannot be protected: .* were published before"):
        second(world, FORCED, "first")
    assert not (world / "second").exists()


@pytest.mark.parametrize(
    "text",
    [
        TABLES,
        TABLES.replace("minimum = 3\n", 'minimum = 3\ncost = "count"\n'),
        TABLES.replace('[["trade", "place"]]', '[["trade@0", "place"], ["trade"]]'),
        TABLES.replace("minimum = 3\n", 'minimum = 3\nforced = [{ trade = "1c", place = "e" }]\n'),
    ],
    ids=["the same", "another cost", "overlapping tables", "another cell forced"],
)
def test_a_second_release_is_made_jointly_with_the_first(world, text):  # noqa: F811
    first, again = released(world, out="first"), second(world, text, "first")
    known, now = told(first), told(again)
    assert {cell for cell, mark in now.items() if mark == "D"} <= {cell for cell, mark in known.items() if mark == "D"}
    if again.products["pay"].domain.names == first.products["pay"].domain.names and "trade@0" not in text:
        low, high = known_of_both(first, again)
        assert high - low >= 2


def test_a_ledger_that_knows_of_the_first_asks_for_it(world):  # noqa: F811
    ledger, plan = world / "ledger", read(world)
    Account.create(ledger, "shops", plan.hidden, sf.Approximate(8))
    second(world, TABLES, ledger=ledger, out="first")
    with pytest.raises(ReleaseError, match=r"'shops'\) of the same period withholds cells too, .* --beside DIR"):
        second(world, TABLES, ledger=ledger)
    assert len(Account(ledger).entries) == 3  # opened, reserved and committed: nothing was charged
    second(world, TABLES, "first", ledger=ledger)
    second(world, TABLES.replace('name = "shops"', 'name = "shops"\nperiod = "2027"'), ledger=ledger, out="next")
    said = CliRunner().invoke(app, ["diff", str(world / "first"), str(world / "next")])
    assert said.exit_code == 0
    assert "both together: unbounded" in said.stdout
    assert "noise" not in said.stdout


def test_cells_that_cannot_be_protected_are_found_before_anything_is_entered(world):  # noqa: F811
    ledger, plan = world / "ledger", read(world)
    Account.create(ledger, "shops", plan.hidden, sf.Approximate(8))
    cells = ", ".join(['{ trade = "1a" }', *(f'{{ trade = "1a", place = "{place}" }}' for place in "ne")])
    with pytest.raises(DataError, match="cannot be protected: cells that must be published") as found:
        second(world, TABLES.replace("minimum = 3\n", f"minimum = 3\nforced = [{cells}]\n"), ledger=ledger)
    assert "noise" not in str(found.value)
    assert "charged" not in str(found.value)
    assert len(Account(ledger).entries) == 1


def test_a_rehearsal_speaks_of_no_noise(world):  # noqa: F811
    assert released(world).manifest.why == "rehearsal: its true totals are entered in no ledger"


@pytest.mark.parametrize(
    ("text", "said", "kind"),
    [
        (TABLES.replace("minimum = 3", 'minimum = 2\np = "0.1"'), "stricter rules .* in minimum:", PlanError),
        (TABLES.replace("minimum = 3", 'minimum = 3\nwaived = ["D"]'), "stricter rules .* in waived:", PlanError),
        (TABLES.replace('unit = "dollars"', 'unit = "dollars", step = "10"'), "in other records or steps", PlanError),
        (TABLES.replace('["trade", "place"]', '["place"]').replace("[attributes.trade]", "[attributes.branch]"),
         r"tables by 'trade', which is no attribute of this plan", PlanError),
    ],
    ids=["rules", "waivers", "steps", "attributes"],
)  # fmt: skip
def test_what_cannot_be_made_jointly_is_said(world, text, said, kind):  # noqa: F811
    released(world, out="first")
    with pytest.raises(kind, match=said):
        second(world, text, "first")


def test_other_data_are_not_laid_beside_what_was_published(world):  # noqa: F811
    released(world, out="first")
    rows = [row | {"pay": row["pay"] + 1} for row in shops()]
    pq.write_table(pa.Table.from_pylist(rows), world / "revised.parquet")
    with pytest.raises(DataError, match="published other numbers of 'pay' than these data have"):
        second(world, TABLES, "first", data="revised.parquet")


TWO = f"""{TABLES}
[[suppress.measure]]
name = "hours"
of = {{ statistic = "total", column = "hours", unit = "hours" }}
"""


def test_measures_of_the_same_contributors_share_a_pattern(world):  # noqa: F811
    """A cell that one measure withheld and another published would be known to have three contributors."""
    rows = [row | {"hours": 1000 if row["firm"] == "E" else 1 + at % 5} for at, row in enumerate(shops())]
    pq.write_table(pa.Table.from_pylist(rows), world / "both.parquet")
    ruled = TWO.replace("minimum = 3", 'minimum = 3\ndominance = [{ n = 1, k = "0.6" }]')
    plan = read(world, ruled)
    data = Microdata.open(world / "both.parquet", plan.schema)
    both = run(plan, data, None, world / "both", Options(1)).products
    hidden = {name: set(one.keys[one.withheld].tolist()) for name, one in both.items()}
    assert hidden["pay"] == hidden["hours"] != set()
    apart = []
    for name in ("pay", "hours"):
        alone = read(world, ruled.replace(_measure(ruled, "hours" if name == "pay" else "pay"), ""))
        product = run(alone, data, None, world / f"{name}-alone", Options(1)).products[name]
        apart.append(set(product.keys[product.withheld].tolist()))
    assert apart[0] != apart[1]  # each by itself would tell of the other's


def test_what_one_release_withholds_another_of_the_same_records_withholds_too(world):  # noqa: F811
    """Pay by itself needs other cells than hours do: those published would be known to have three contributors."""
    rows = [row | {"hours": 1000 if row["firm"] == "E" else 1 + at % 5} for at, row in enumerate(shops())]
    pq.write_table(pa.Table.from_pylist(rows), world / "both.parquet")
    ruled = TWO.replace("minimum = 3", 'minimum = 3\ndominance = [{ n = 1, k = "0.6" }]')
    pay, hours = (ruled.replace(_measure(ruled, other), "") for other in ("hours", "pay"))
    first = second(world, hours, data="both.parquet", out="first").products["hours"]
    alone = second(world, pay, data="both.parquet", out="alone").products["pay"]
    beside = second(world, pay, "first", data="both.parquet").products["pay"]
    hidden = [set(one.keys[one.withheld].tolist()) for one in (first, alone, beside)]
    assert hidden[0] - hidden[1]
    assert hidden[0] <= hidden[2]


def _measure(text, name):
    """The section of a measure."""
    start = text.index(f'[[suppress.measure]]\nname = "{name}"')
    end = text.find("[[suppress.measure]]", start + 1)
    return text[start:] if end < 0 else text[start:end]
