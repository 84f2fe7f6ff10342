"""A release that is withdrawn while it is served is shown so without a restart, by every worker."""

import asyncio
import threading
import time

import httpx
import pytest
from tests.serve.small import small

from sfumato.release import noticed, open_release, withdraw
from sfumato.serve.app import app, over
from sfumato.serve.catalogue import Catalogue

WHY = "The weights were wrong"
PAGE, DATA = "/firms~number", "/api/v2/tables/firms~number/data"


@pytest.fixture
def folder(tmp_path):
    return small(tmp_path / "release")


@pytest.fixture
def watched(folder, browse, monkeypatch):
    """The application over a release, which looks at every question."""
    monkeypatch.setattr("sfumato.serve.watching.LOOKS_AFTER", 0)
    return browse([folder])


def test_a_running_server_shows_a_withdrawal_in_every_worker(serving, folder):
    with serving([folder], workers=2) as client:
        held = client.get(PAGE).headers["etag"]
        assert WHY not in client.get(PAGE).text
        withdraw(folder, WHY)
        patience = time.monotonic() + 10
        while not all(WHY in asked(client, PAGE).text for _ in range(20)):
            assert time.monotonic() < patience
            time.sleep(0.1)
        again = client.get(PAGE, headers={"If-None-Match": held})
        assert again.status_code == 200
        assert WHY in again.text
        assert WHY in client.get(DATA).text
        assert client.get("/api/v2/tables").json()["tables"] == []


def asked(client, address):
    """The reply on a connection of its own, which any worker may take."""
    return httpx.get(f"{str(client.base_url).rstrip('/')}{address}", timeout=20)


def test_the_next_question_shows_it_and_nothing_kept_is_given(watched, folder):
    before = {address: watched.get(address) for address in (PAGE, DATA)}
    withdraw(folder, WHY)
    for address, reply in before.items():
        again = watched.get(address, headers={"If-None-Match": reply.headers["etag"]})
        assert (again.status_code, WHY in again.text, WHY in reply.text) == (200, True, False)
        assert again.headers["etag"] != reply.headers["etag"]


@pytest.mark.parametrize("patient", [True, False])
def test_many_who_ask_at_once_are_all_told_unless_the_disk_does_not_answer(folder, monkeypatch, patient):
    def slowly(release):
        time.sleep(0.1)
        return noticed(release)

    monkeypatch.setattr("sfumato.serve.watching.noticed", slowly)
    monkeypatch.setattr("sfumato.serve.watching.LOOKS_FOR", 5 if patient else 0)
    assert [WHY in text for text in asyncio.run(_asked_at_once(folder))] == [patient] * 4


async def _asked_at_once(folder):
    """The pages of four readers who ask when the server has not looked for a while."""
    async with _client(app([folder])) as client:
        withdraw(folder, WHY)
        return [reply.text for reply in await asyncio.gather(*(client.get(PAGE) for _ in range(4)))]


def _client(application):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=application), base_url="http://localhost")


def test_readers_who_leave_while_it_looks_take_nothing_from_those_who_stay(folder, monkeypatch):
    def slowly(release):
        time.sleep(0.1)
        return noticed(release)

    async def asked_and_left():
        async with _client(app([folder])) as client:
            withdraw(folder, WHY)
            readers = [asyncio.create_task(client.get(DATA)) for _ in range(6)]
            await asyncio.sleep(0)
            for reader in readers[:3]:
                reader.cancel()
            return await asyncio.gather(*readers, return_exceptions=True)

    monkeypatch.setattr("sfumato.serve.watching.noticed", slowly)
    left, stayed = (found := asyncio.run(asked_and_left()))[:3], found[3:]
    assert all(isinstance(one, asyncio.CancelledError) for one in left)
    assert all(WHY in one.text for one in stayed)


def test_a_disk_that_does_not_answer_holds_up_only_those_who_ask_first(folder, monkeypatch):
    answers, waited = threading.Event(), []

    def never(release):
        answers.wait(60)
        return noticed(release)

    async def waits(tasks, **most):
        waited.append(most["timeout"])
        return await wait(tasks, **most)

    async def asked_in_turn():
        async with _client(app([folder])) as client:
            withdraw(folder, WHY)
            before = [WHY in (await client.get(DATA)).text for _ in range(3)]
            answers.set()
            await asyncio.sleep(0.2)
            return [*before, WHY in (await client.get(DATA)).text]

    wait = asyncio.wait
    monkeypatch.setattr("sfumato.serve.watching.noticed", never)
    monkeypatch.setattr("sfumato.serve.watching.LOOKS_FOR", 0.05)
    monkeypatch.setattr("sfumato.serve.watching.asyncio.wait", waits)
    try:
        assert asyncio.run(asked_in_turn()) == [False, False, False, True]
    finally:
        answers.set()
    assert waited[1:3] == [0, 0]


def test_a_withdrawal_that_could_not_be_shown_is_shown_by_the_next_look(folder, monkeypatch):
    application, made = app([folder]), []

    def failing(catalogue):
        made.append(catalogue)
        if len(made) == 1:
            raise MemoryError
        return over(catalogue)

    async def asked_twice():
        async with _client(application) as client:
            withdraw(folder, WHY)
            return [WHY in (await client.get(DATA)).text for _ in range(2)]

    monkeypatch.setattr("sfumato.serve.watching.LOOKS_AFTER", 0)
    application.make = failing
    assert asyncio.run(asked_twice()) == [False, True]


def test_an_application_that_does_not_look_never_shows_it(folder, browse):
    browser = browse([folder])
    browser.application = over(Catalogue.open([folder]))
    browser.get(PAGE)
    withdraw(folder, WHY)
    assert WHY not in browser.get(f"{PAGE}?rows=sex").text


def test_a_notice_that_cannot_be_read_withdraws_and_what_was_withdrawn_stays_so(watched, folder):
    assert "whose reason cannot be read" not in watched.get(PAGE).text
    (folder / "withdrawn.json").write_text("{", encoding="utf-8")
    assert "whose reason cannot be read" in watched.get(PAGE).text
    (folder / "withdrawn.json").unlink()
    assert "whose reason cannot be read" in watched.get(PAGE).text


def test_a_release_is_the_same_until_there_is_a_notice(folder):
    release = open_release(folder)
    assert noticed(release) is release
    withdraw(folder, WHY)
    found = noticed(release)
    assert found.withdrawn == WHY
    assert noticed(found) is found


@pytest.mark.parametrize("laid", [lambda path: path.symlink_to("nowhere"), lambda path: path.mkdir()])
def test_a_notice_that_is_no_file_withdraws(folder, laid):
    release = open_release(folder)
    laid(folder / "withdrawn.json")
    assert "whose reason cannot be read" in noticed(release).withdrawn


def test_a_folder_that_is_gone_or_cannot_be_looked_at_withdraws_nothing(folder, monkeypatch):
    release = open_release(folder)

    def fails(path):
        raise OSError(5, "Input/output error", path)

    with monkeypatch.context() as failing:
        failing.setattr("os.lstat", fails)
        failing.setattr("os.stat", fails)
        assert noticed(release) is release
    folder.rename(folder.with_name("elsewhere"))
    assert noticed(release) is release
