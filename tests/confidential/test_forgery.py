"""A release that was not charged does not pass for one that was, however its manifest is edited."""

import json

import pytest

import sfumato as sf
from sfumato.confidential import Account, Options
from sfumato.confidential.account import uncharged
from sfumato.release import Manifest, open_release, verify


def edited(folder, **changes):
    """The manifest of a release, rewritten as Sfumato writes it."""
    path = folder / "manifest.json"
    manifest = Manifest.from_bytes(path.read_bytes()).model_copy(update=changes)
    path.write_bytes(manifest.to_bytes())
    return folder


def test_a_charged_release_is_the_one_that_the_ledger_committed(make_release, tmp_path):
    release = open_release(make_release())
    assert uncharged(Account(tmp_path / "jobs.ledger"), release) == []


def test_a_rehearsal_dressed_up_with_another_releases_charge_is_found(make_release, tmp_path):
    real, trial = make_release("real"), make_release("trial", Options(rehearsal=1))
    anchor = open_release(real).manifest.ledger
    forged = edited(trial, rehearsal=False, releasable=True, why="charged, drawn and written in full", ledger=anchor)
    assert verify(forged).intact, "an unsigned manifest proves nothing about itself; the ledger does"
    assert "committed for another manifest" in uncharged(Account(tmp_path / "jobs.ledger"), open_release(forged))[0]


def test_a_rehearsal_that_says_releasable_is_refused(make_release):
    trial = make_release("trial", Options(rehearsal=1))
    assert "names no charge" in verify(edited(trial, releasable=True)).problems[0]
    with pytest.raises(sf.ReleaseError, match="names no charge"):
        open_release(trial)


def test_a_smaller_promise_than_was_charged_is_found(make_release, tmp_path):
    folder = make_release()
    promise = open_release(folder).manifest.promise.model_copy(update={"loss": {"epsilon": "0.1"}})
    found = uncharged(Account(tmp_path / "jobs.ledger"), open_release(edited(folder, promise=promise)))
    assert found


@pytest.mark.parametrize("place", ["/etc/hostname", "../elsewhere.parquet", "products/absent.parquet"])
def test_a_manifest_that_reads_a_file_it_does_not_hash_is_refused(make_release, place):
    folder = make_release()
    path = folder / "manifest.json"
    content = json.loads(path.read_bytes())
    content["products"][0]["file"] = place
    path.write_text(json.dumps(content))
    with pytest.raises(sf.ReleaseError, match="not among the hashed files"):
        verify(folder)


@pytest.mark.parametrize("name", ["../escaped", "a/b", "", "a b"])
def test_a_step_cannot_be_named_out_of_the_release(small_plan, name):
    from sfumato.calibrate import LeastSquares

    with pytest.raises(sf.PlanError, match="must be letters"):
        sf.Plan(
            "p", small_plan.schema, small_plan.hidden, small_plan.limit, small_plan.measures,
            (LeastSquares(name, "jobs", ()),),
        )  # fmt: skip


def test_the_manifest_says_what_all_releases_of_the_ledger_cost_together(make_release):
    first, second = open_release(make_release("one")), open_release(make_release("two"))
    assert first.manifest.ledger.spent == {"epsilon": "2"}
    assert second.manifest.ledger.spent == {"epsilon": "4"}
    assert second.manifest.ledger.limit == {"epsilon": "20"}
