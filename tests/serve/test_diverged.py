"""A step that found no answer is said wherever its numbers would be looked for, with the table that answers instead."""

from dataclasses import replace

import pytest
from tests.commands import command
from tests.serve.conftest import plan
from tests.serve.small import seen

import sfumato as sf
from sfumato.calibrate import Rake
from sfumato.query import open_folder

SAID = "raked: raking did not converge in 1 cycles; least-squares always does; 'jobs' answers instead."


def lost():
    """Raking to two margins, which takes several cycles, allowed one."""
    whole = plan("lost")
    by = [sf.Measure(name, sf.Count(), (name,), sf.Geometric(1)) for name in ("sex", "age")]
    measures = (replace(whole.measures[0], by=("sex", "age", "trade")), *by)
    step = Rake("raked", "jobs", ("sex", "age"), cycles=1, tolerance=1e-9)
    return replace(whole, limit=sf.Approximate(3), measures=measures, then=(step,))


@pytest.fixture(scope="module")
def folder(bench):
    return bench.release("lost", of=lost())


@pytest.fixture(scope="module")
def client(folder, browse):
    return browse([folder])


def sfumato(*words):
    done = command(*words)
    assert done.returncode == 0, done.stderr
    return done


def test_the_run_says_it(bench, tmp_path):
    (tmp_path / "lost.toml").write_text(lost().to_toml())
    told = sfumato("run", tmp_path / "lost.toml", "--data", bench.data, "--rehearsal", "1", "--out", tmp_path / "out")
    assert f"A step found no answer: {SAID}" in told.stdout


def test_verify_table_and_python_say_it(folder):
    assert f"A step found no answer: {SAID}" in sfumato("verify", folder).stdout
    assert f"A STEP FOUND NO ANSWER: {SAID}" in sfumato("table", folder, "--rows", "sex").stdout
    assert SAID in " ".join(open_folder(folder).warnings())
    assert open_folder(folder).statistics == ("jobs",)


@pytest.mark.parametrize("address", ["/", "/lost~jobs", "/privacy/lost"])
def test_the_pages_say_it(client, address):
    page = seen(client, address)
    assert f"A step found no answer: {SAID}" in page.text
    assert not page.all("watermark")
    assert "Ein Rechenschritt fand keine Lösung" in seen(client, f"{address}?lang=de").text


def test_the_api_and_the_downloads_say_it(client):
    for address in ("/api/v2/tables/lost~jobs/metadata", "/api/v2/tables/lost~jobs/data?valueCodes[sex]=*"):
        assert f"A step found no answer: {SAID}" in client.get(address).json()["note"]
    assert f"A step found no answer: {SAID}" in client.get("/api/v2/privacy/lost").json()["notices"]
    taken = client.get("/api/v2/tables/lost~jobs/data?valueCodes[sex]=*&outputFormat=csv")
    assert SAID in taken.text


def test_a_release_whose_steps_found_answers_says_nothing_of_it(page):
    assert "found no answer" not in seen(page, "/").text
