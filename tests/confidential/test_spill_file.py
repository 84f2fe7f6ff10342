"""What is spilled cannot be read, changed or found afterwards by whoever has the disk, however the process ends."""

import errno
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from tests.conftest import small_rows

import sfumato as sf
from sfumato.confidential import Account, Microdata, Options, run
from sfumato.confidential.engines.spill import folder as folders
from sfumato.confidential.engines.spill import parted, sealed_chunks
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.sealed_chunks import COARSE, TAG, SealedChunks
from sfumato.errors import DataError, PlanError
from sfumato.schema import memory

MARK = "Shop of Mrs Unmistakable"


class Identity:
    """A cipher that hides nothing."""

    @staticmethod
    def encrypt(_nonce, content, _bound):
        return content + bytes(TAG)

    @staticmethod
    def decrypt(_nonce, sealed, _bound):
        return sealed[:-TAG]


class Kept(SealedChunks):
    """Chunks whose file can be looked at after it was given back."""

    all: list[bytes]

    def close(self):
        if self._file is not None and not self._file.closed:
            self.seen.append(os.pread(self._file.fileno(), self.size, 0))
        super().close()


@pytest.fixture
def seen(monkeypatch):
    """What stood in every file that was spilled to."""
    monkeypatch.setattr(Kept, "seen", [], raising=False)
    monkeypatch.setattr(parted, "SealedChunks", Kept)
    monkeypatch.setattr(parted, "IN_A_PART", 10)
    return Kept.seen


@pytest.fixture
def spill(tmp_path):
    (tmp_path / "spill").mkdir()
    return tmp_path / "spill"


@pytest.fixture
def told(tmp_path, small_plan):
    """A plan that keeps one row of a firm, and its data."""
    rows = small_rows()
    names = [f"{MARK} {place % 40}" for place in range(len(rows))]
    pq.write_table(rows.append_column("firm", [names]), tmp_path / "jobs.parquet")
    return replace(small_plan, hidden=replace(small_plan.hidden, id="firm", at_most=1)), tmp_path / "jobs.parquet"


def microdata(told, spill):
    plan, place = told
    return Microdata.open(place, plan.schema, spill=spill)


def files(release):
    """Every file of a release but the time that its manifest was written at."""
    return {
        one.relative_to(release): b"\n".join(line for line in one.read_bytes().split(b"\n") if b'"created"' not in line)
        for one in sorted(release.rglob("*"))
        if one.is_file()
    }


def test_a_rehearsal_is_the_same_to_the_byte_and_says_that_it_was_spilled(told, spill, tmp_path, seen):
    notes, plan = [], told[0]
    run(plan, microdata(told, None), None, tmp_path / "held", Options(rehearsal=7))
    assert not seen
    run(plan, microdata(told, spill), None, tmp_path / "spilled", Options(rehearsal=7, note=notes.append))
    assert seen
    assert files(tmp_path / "held") == files(tmp_path / "spilled")
    assert any("encrypted part" in one for one in notes)
    assert not list(spill.iterdir())


def test_no_name_stands_in_what_is_spilled(told, spill, tmp_path, seen, monkeypatch):
    run(told[0], microdata(told, spill), None, tmp_path / "sealed", Options(rehearsal=7))
    assert sum(map(len, seen)) > COARSE
    assert all(MARK.encode() not in one for one in seen)
    assert all(len(one) % COARSE % TAG == 0 for one in seen), "chunks are padded"
    seen.clear()
    monkeypatch.setattr(sealed_chunks, "new_cipher", Identity)
    run(told[0], microdata(told, spill), None, tmp_path / "open", Options(rehearsal=7))
    assert any(MARK.encode() in one for one in seen), "it would be found if it were not encrypted"


@pytest.mark.parametrize("where", [0, 1000, -1])
def test_a_changed_byte_is_refused_and_nothing_charged(told, spill, tmp_path, monkeypatch, where):
    def flipped(sealed, part):
        return (
            bytes([*sealed[:part], sealed[part] ^ 1, *sealed[part:][1:]])
            if part >= 0
            else flipped(sealed, len(sealed) - 1)
        )

    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda *asked: flipped(whole(*asked), where))
    account = Account.create(tmp_path / "ledger", "jobs", told[0].hidden, sf.Approximate(20))
    before = len(account.entries)
    with pytest.raises(DataError, match="changed or damaged on its disk"):
        run(told[0], microdata(told, spill), tmp_path / "ledger", tmp_path / "release")
    assert len(Account(tmp_path / "ledger").entries) == before
    assert not (tmp_path / "release").exists()
    assert not list(spill.iterdir())


def test_chunks_that_change_places_are_refused(spill):
    chunks = SealedChunks(SpillFolder(spill))
    for part in (0, 1):
        chunks.add(part, b"of one length")
    (first,), (second,) = chunks._chunks[0], chunks._chunks[1]
    assert [bytes(one) for one in chunks.of(1)] == [b"of one length"]
    chunks._chunks[0] = [replace(first, start=second.start)]
    with pytest.raises(DataError, match="changed or damaged"):
        list(chunks.of(0))
    chunks.close()


def test_no_two_chunks_have_one_nonce_and_no_two_files_one_key(spill):
    one, other = (SealedChunks(SpillFolder(spill)) for _ in range(2))
    for chunks in (one, other):
        for _ in range(3):
            chunks.add(0, b"the same")
    assert len({chunk.nonce for chunk in one._chunks[0]}) == 3
    sealed = [os.pread(chunks._file.fileno(), chunks.size, 0) for chunks in (one, other)]
    parts = {text[start : start + COARSE] for text in sealed for start in range(0, len(text), COARSE + TAG)}
    assert len(parts) == 6
    for chunks in (one, other):
        chunks.close()


def test_only_its_owner_may_read_the_file_which_has_no_name(spill):
    chunks = SealedChunks(SpillFolder(spill))
    chunks.add(0, b"something")
    told = os.fstat(chunks._file.fileno())
    assert stat.S_IMODE(told.st_mode) == 0o600
    assert told.st_nlink == 0
    assert not list(spill.iterdir())
    chunks.close()


def test_a_full_disk_is_said_and_nothing_charged(told, spill, tmp_path, monkeypatch):
    def full(_file, _content):
        raise OSError(errno.ENOSPC, f"No space left for {MARK}")

    monkeypatch.setattr(sealed_chunks, "_write", full)
    account = Account.create(tmp_path / "ledger", "jobs", told[0].hidden, sf.Approximate(20))
    before = len(account.entries)
    with pytest.raises(DataError, match="is full; nothing was charged, and nothing is left there") as refused:
        run(told[0], microdata(told, spill), tmp_path / "ledger", tmp_path / "release")
    assert MARK not in str(refused.value)
    assert len(Account(tmp_path / "ledger").entries) == before
    assert not list(spill.iterdir())


def test_cells_are_had_before_the_charge(told, spill, tmp_path, monkeypatch):
    """A disk that fails once rules were looked at fails before anything is charged."""
    stages = []
    run(told[0], microdata(told, spill), None, tmp_path / "one", Options(rehearsal=7, progress=stages.append))
    closed = []
    monkeypatch.setattr(SealedChunks, "close", lambda chunks: closed.append(len(stages)) or chunks._file.close())
    stages.clear()
    run(told[0], microdata(told, spill), None, tmp_path / "two", Options(rehearsal=7, progress=stages.append))
    assert closed
    assert closed[0] <= stages.index("reserved")


def test_a_folder_that_is_unfit_is_refused_in_words(told, spill, tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no folder that is there; make it"):
        SpillFolder(tmp_path / "nowhere")
    monkeypatch.setattr(folders.os, "access", lambda *_: False)
    with pytest.raises(DataError, match="may not be written to"):
        SpillFolder(spill)
    monkeypatch.undo()
    mounts = tmp_path / "mounts"
    mounts.write_text(f"disk / ext4 rw 0 0\nmemory {spill} tmpfs rw 0 0\n", encoding="utf-8")
    monkeypatch.setattr(folders, "MOUNTS", mounts)
    with pytest.raises(DataError, match="kept in memory"):
        run(told[0], microdata(told, spill), None, tmp_path / "release", Options(rehearsal=7))
    assert SpillFolder(tmp_path).free > 0


RELEASE_BYTES = 10**8
"""More than the release takes, which may share the disk of the spilled records."""


def test_what_fits_neither_memory_nor_the_disk_is_refused_before_it_is_read(told, spill, tmp_path, monkeypatch):
    plan, _ = told
    need, rows = plan.memory(), len(small_rows())
    assert need.spilled is not None
    on_disk = need.spilled.on_disk * rows
    monkeypatch.setattr(SpillFolder, "free", property(lambda _: on_disk - 1))
    with pytest.raises(PlanError, match=r"free in the folder of --spill\. Nothing was read"):
        run(plan, microdata(told, spill), None, tmp_path / "none", Options(rehearsal=7))
    monkeypatch.setattr(SpillFolder, "free", property(lambda _: on_disk + RELEASE_BYTES))
    monkeypatch.setattr(memory, "available", lambda: need.spilled.bytes - 1)
    with pytest.raises(PlanError, match=r"GB of this machine\. Nothing was read"):
        run(plan, microdata(told, spill), None, tmp_path / "none", Options(rehearsal=7))
    monkeypatch.setattr(memory, "available", lambda: need.spilled.bytes)
    run(plan, microdata(told, spill), None, tmp_path / "release", Options(rehearsal=7))


KILLED = """
import sys, time
from pathlib import Path
from sfumato.confidential.engines.spill.folder import SpillFolder
from sfumato.confidential.engines.spill.sealed_chunks import SealedChunks
chunks = SealedChunks(SpillFolder(Path(sys.argv[1])))
chunks.add(0, b"something" * 10**5)
print("spilled", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_process_that_is_ended(how, spill):
    with subprocess.Popen([sys.executable, "-c", KILLED, str(spill)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "spilled\n"
        assert not list(spill.iterdir())
        process.send_signal(how)
        assert process.wait() != 0
    assert not list(spill.iterdir())


def test_records_of_one_unit_that_do_not_fit_are_refused(told, spill, tmp_path, monkeypatch):
    from sfumato.confidential.engines.spill import spilling

    monkeypatch.setattr(spilling, "available", lambda: 1)
    with pytest.raises(DataError, match="have the same firm that they do not fit in memory"):
        run(told[0], microdata(told, spill), None, tmp_path / "release", Options(rehearsal=7))
