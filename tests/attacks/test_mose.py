"""Attacks on MOSE from published files alone: they read counts and lines off the method as published, and not off ours.

The attacker knows epsilon. As published, the error of a line is √2 chi / (epsilon N), so that all errors together tell
every N; and the noise of a line is chi / N times that of its count, so that the published count tells it.
"""

import numpy as np
import pytest

from sfumato.confidential import Microdata, Options, run
from sfumato.plan import Plan
from sfumato.release import Noisy, open_release
from sfumato.studies.mose import read_counts, read_lines
from sfumato.synth import write

LEAST = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write("atlas", tmp_path_factory.mktemp("atlas"), rows=12_000).parent


def published(folder, mechanism, mode):
    """Products of a release of one line a cell, and the true lines and counts."""
    text = (folder / "atlas.toml").read_text(encoding="utf-8")
    head, *measures = text.split("[[measure]]")
    kept = [one for one in measures if '"p75"' not in one.split("\n")[1]]
    exposed = '[[exposure]]\nkind = "published"\nwhat = "chi and counts"\nwhy = "as published"\n'
    exposed += '[publish]\nanswers = ["p25", "children"]\n'
    plain = "[[measure]]".join([head, *kept]).replace('mechanism = "mose"', f'mechanism = "{mechanism}"')
    plain = plain.replace(', chi_by = ["tract@0", "race", "gender"]', "").replace('epsilon = "8"', 'epsilon = "1"')
    plan = Plan.parse(plain + exposed, folder / "attacked.toml")
    out = folder / mechanism
    run(plan, Microdata.open(folder / "atlas.parquet", plan.schema), None, out, Options(rehearsal=7, mode=mode))
    return plan, open_release(out).products


def true(plan, folder):
    from sfumato.confidential import Tabulation
    from sfumato.draws import SeededDraws

    records = Tabulation(plan, Microdata.open(folder / "atlas.parquet", plan.schema), SeededDraws(1))
    counts, lines = (records.cells(measure).values.ravel() for measure in plan.measures)
    records.close()
    return counts, lines


def attacked(folder, mechanism, mode):
    plan, products = published(folder, mechanism, mode)
    counts, lines = true(plan, folder)
    told, people = products["p25"], products["children"]
    seen = Noisy(told.domain, told.values, told.subject.step, None, {"variance": told.uncertainty.variances})
    shown = told.which.ravel() == 0
    assert shown.sum() > 60
    exact = (read_counts(seen, people) == counts)[shown].mean()
    near = (np.abs(read_lines(seen, people, 1) - lines * 1e-6)[shown] < 1e-5).mean()
    return exact, near


def test_exact_counts_and_lines_are_read_off_the_method_as_published(folder):
    assert attacked(folder, "mose-as-published", "as_published") == (1, 1)


def test_neither_is_read_off_noisy_counts_with_draws_of_their_own(folder):
    exact, near = attacked(folder, "mose", "sound")
    assert exact < 0.6, "a noisy count is right now and then"
    assert near < 0.05
