"""Runs as published: a paper to the letter, for study alone; marked, uncharged, unserved, and refused when unasked."""

import json
import stat

import pytest
from tests.cli.test_cli import sfumato
from tests.conftest import SMALL, small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.errors import PlanError, ReleaseError
from sfumato.mechanisms import Geometric
from sfumato.privacy import Unbounded
from sfumato.release import verify
from sfumato.serve.app import app
from sfumato.serve.catalogue import Catalogue

STEP = "the paper's average reads the data; use the geometric mechanism"


class OfAPaper(Geometric):
    """A mechanism that exists only as published."""

    name = "of-a-paper"
    as_published = STEP

    def loss(self, move):
        return Unbounded("the average is exact")


@pytest.fixture
def paper(small_plan):
    measure = sf.Measure("jobs", sf.Count(), ("place", "age"), OfAPaper(1))
    return sf.Plan("paper", small_plan.schema, small_plan.hidden, Unbounded("as published"), (measure,))


def made(plan, folder, name="release", ledger=None, **options):
    return run(plan, Microdata.open(small_rows(), plan.schema), ledger, folder / name, Options(**options))


@pytest.mark.parametrize("options", [{}, {"rehearsal": 3}])
def test_a_plan_of_a_paper_is_refused_in_words_that_name_the_step_and_its_sound_sibling(paper, tmp_path, options):
    Account.create(tmp_path / "ledger", "jobs", paper.hidden, sf.Approximate(9))
    with pytest.raises(PlanError) as refused:
        made(paper, tmp_path, ledger=None if options else tmp_path / "ledger", **options)
    for words in ("exists only as published", "measure 'jobs'", STEP, "--mode as_published"):
        assert words in str(refused.value)
    assert not (tmp_path / "release").exists()
    assert not Account(tmp_path / "ledger").ledger.charges


def test_its_release_is_marked_and_charged_to_nothing(paper, tmp_path):
    manifest = made(paper, tmp_path, mode="as_published").manifest
    assert (manifest.mode, manifest.releasable, manifest.rehearsal, manifest.ledger) == (
        "as_published",
        False,
        False,
        None,
    )
    assert manifest.why == "as published, for study alone: the claim is broken by measure 'jobs'"
    assert manifest.promise.loss == {"unbounded": "the average is exact"}
    verdict = verify(tmp_path / "release")
    assert verdict.intact
    assert not verdict.releasable
    assert any("Not formally private" in said for said in verdict.caveats)


def test_no_ledger_is_charged_or_entered_even_where_one_is_given(paper, tmp_path):
    account = Account.create(tmp_path / "ledger", "jobs", paper.hidden, sf.Approximate(9))
    before = account.entries
    with pytest.raises(ReleaseError, match="charged to no ledger and entered in none"):
        made(paper, tmp_path, ledger=tmp_path / "ledger", mode="as_published")
    made(paper, tmp_path, mode="as_published")
    assert account.entries == before


def test_a_sound_plan_may_be_run_so_and_is_marked_all_the_same(small_plan, tmp_path):
    manifest = made(small_plan, tmp_path, mode="as_published").manifest
    assert (manifest.mode, manifest.releasable, manifest.ledger) == ("as_published", False, None)


@pytest.mark.parametrize("options", [{"mode": "as_published"}, {"rehearsal": 3}])
def test_what_stays_inside_is_not_signed(small_plan, tmp_path, options):
    with pytest.raises(ReleaseError, match="leave out --sign"):
        made(small_plan, tmp_path, sign_with=tmp_path / "key.pem", **options)
    assert not (tmp_path / "release").exists()


def test_a_mode_that_is_none_is_answered_with_the_nearest():
    with pytest.raises(PlanError, match="did you mean 'as_published'"):
        Options(mode="as-published")


@pytest.mark.parametrize("options", [{"mode": "as_published"}, {"rehearsal": 1}])
def test_what_is_as_confidential_as_the_data_is_its_owners_alone(small_plan, tmp_path, options):
    made(small_plan, tmp_path, **options)
    for path in (tmp_path / "release", *(tmp_path / "release").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_what_is_published_can_be_read_by_all(make_release):
    folder = make_release()
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644)


def test_it_is_shown_on_loopback_under_a_secret_address_only(paper, tmp_path):
    made(paper, tmp_path, mode="as_published")
    (edition,) = Catalogue.open([tmp_path / "release"]).editions
    assert edition.private
    assert [one.kind for one in edition.notices] == ["not for publication", "not formally private"]
    from sfumato.serve import serve

    with pytest.raises(ReleaseError):
        serve([tmp_path / "release"], host="0.0.0.0", port=0)
    assert app([tmp_path / "release"])


def test_a_manifest_edited_to_be_releasable_is_found(paper, tmp_path):
    made(paper, tmp_path, mode="as_published")
    path = tmp_path / "release" / "manifest.json"
    written = json.loads(path.read_text())
    path.write_text(json.dumps(written | {"releasable": True}, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    assert any("made as published" in problem for problem in verify(tmp_path / "release").problems)


def test_the_command_has_the_mode(tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "small.toml").write_text(SMALL)
    pq.write_table(small_rows(), tmp_path / "jobs.parquet")
    words = ["run", tmp_path / "small.toml", "--data", tmp_path / "jobs.parquet", "--out", tmp_path / "r"]
    assert "did you mean 'as_published'" in sfumato(*words, "--mode", "published", good=False).stderr
    assert "NOT releasable: as published" in sfumato(*words, "--mode", "as_published").stdout
    assert "NOT FOR PUBLICATION: as published" in sfumato("table", tmp_path / "r", "--rows", "place").stdout
