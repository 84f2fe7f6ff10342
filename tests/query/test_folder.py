"""A real release folder, asked in Python and on the command line: groups, shares, and errors that old releases lack."""

import csv
import io
import json

import pytest
from typer.testing import CliRunner

import sfumato
from sfumato.cli.main import app
from sfumato.query import Group
from sfumato.release import Independent, open_release
from sfumato.release.uncertainties import StatedIn, read_uncertainty


def said(*words: object, good: bool = True) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert (done.exit_code == 0) == good, done.output
    return done.stdout if good else str(done.exception) + done.output


def test_the_command_prints_groups_and_shares_as_python_does(make_release):
    folder = make_release()
    words = ["table", folder, "--rows", "trade", "--cols", "place", "--group", "trade:Mine=11,22"]
    table = sfumato.open(folder).table("trade", "place", at={"trade": Group("Mine", ("11", "22"))})
    rows = list(csv.DictReader(io.StringIO(said(*words, "--format", "csv"))))
    assert [(row["trade"], row["trade_label"]) for row in rows] == [("group:Mine", "Mine")] * 3
    assert [float(row["estimate"]) for row in rows] == [one.value for _, one in table.items()]
    assert json.loads(said(*words, "--format", "jsonstat")) == table.to_jsonstat()
    shares = said(*words, "--at", "trade=@0", "--share", "row")
    assert "Making" in shares
    assert shares.count("% ±") == 9
    assert "could be anything" not in shares
    assert "did you mean" in said(*words[:-1], "trade:Mine=111", good=False)
    assert "is not VARIABLE:NAME=LEVEL" in said(*words[:-1], "trade=11", good=False)


def test_a_release_states_the_law_of_its_noise(make_release):
    """One cell of geometric noise: P(|K| > k) = 2 a^(k + 1) / (1 + a), a = exp(-1) for counts under add-remove."""
    engine = sfumato.open(make_release())
    single = engine.total({"trade": "11", "place": "north", "age": "16-24"}, of="jobs")
    a = 0.36787944117144233
    assert single.law.excess == pytest.approx((1 + 4 * a + a * a) / (2 * a))
    assert single.law.probabilities[:3] == pytest.approx([(1 - a) / (1 + a) * a**k for k in range(3)])
    for level in (0.90, 0.95, 0.99):
        least = next(k for k in range(99) if 2 * a ** (k + 1) / (1 + a) <= 1 - level)
        assert (single.moe(level), single.interval(level)) == (least, (single.value - least, single.value + least))


def test_a_release_without_the_statement_is_read_as_normal(make_release):
    product = open_release(make_release()).products["jobs"]
    source = StatedIn(product.subject.step, lambda _: None, lambda _: None)
    assert read_uncertainty({"kind": "independent", "variance": 2.0}, source) == Independent(2.0)
    assert read_uncertainty(product.uncertainty.to_dict(), source) == product.uncertainty
