"""Account: the ledger's file, one SQLite table that is only appended to, each entry hashed over the one before it.

A charge is on the disk before `reserve` returns (`ledger_file`). Whoever holds the file can still put an older copy in
its place: the chain cannot see that; what was `remembered` elsewhere and the releases' manifests can.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sfumato.confidential import chain
from sfumato.confidential.chain import Entry
from sfumato.confidential.ledger_file import transaction
from sfumato.confidential.restoration import drafts
from sfumato.errors import LedgerError
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.notation import hidden_to_dict, limit_from_dict, loss_to_dict
from sfumato.release import Release

# INSERT OR REPLACE deletes without firing a DELETE trigger, so an entry out of turn is refused on INSERT.
_REFUSE = "BEGIN SELECT RAISE(ABORT, 'a ledger is only appended to'); END"
_MADE = {
    "table entries": "CREATE TABLE entries (sequence INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL,"
    " kind TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)",
    "trigger in_turn": "CREATE TRIGGER in_turn BEFORE INSERT ON entries WHEN NEW.sequence IS NOT"  # noqa: S608 - constant
    f" (SELECT 1 + coalesce(max(sequence), 0) FROM entries) {_REFUSE}",
    "trigger no_update": f"CREATE TRIGGER no_update BEFORE UPDATE ON entries {_REFUSE}",
    "trigger no_delete": f"CREATE TRIGGER no_delete BEFORE DELETE ON entries {_REFUSE}",
}
_SCHEMA = _MADE | {"table sqlite_sequence": "CREATE TABLE sqlite_sequence(name,seq)"}


class Account:
    """The ledger of one population in its file; every call is a transaction of its own and sees what others wrote."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.tried: Entry | None = None
        """The charge that was last made, or was being made when it failed."""
        self.entries  # noqa: B018 - a broken ledger is refused at once

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        population: str,
        hidden: Neighbours,
        limit: Loss,
        per_year: bool = False,
        *,
        memory: bool = False,
    ) -> Self:
        """A new ledger that only its owner can read; a file that is there already is never touched.

        With `memory` no run charges it that cannot remember the charge elsewhere.
        """
        place, written = Path(path), loss_to_dict(limit_from_dict(loss_to_dict(limit)))
        body = {"population": chain.given("population", population), "hidden": hidden_to_dict(hidden), "limit": written}
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise LedgerError(
                f"No ledger can be made at {place}: {error.strerror}. It is opened once, as a new file on a local disk."
            ) from None
        try:
            remembers = {"memory": True} if memory else {}
            _lay_out(place, body | remembers | {"per_year": bool(per_year), "format": chain.FORMAT})
        except BaseException:
            place.unlink(missing_ok=True)
            raise
        return cls(place)

    def __repr__(self) -> str:
        return f"Account('{self.path}')"

    @property
    def entries(self) -> tuple[Entry, ...]:
        with transaction(self.path) as connection:
            return _sound(connection, self.path)

    @property
    def head(self) -> str:
        """The hash of the last entry: what a manifest prints to anchor its release here."""
        return self.entries[-1].hash

    @property
    def ledger(self) -> Ledger:
        return chain.ledger_of(self.entries)

    @property
    def memory(self) -> bool:
        """Whether it was opened to be charged only where the charge can be remembered elsewhere."""
        return self.entries[0].body.get("memory") is True

    def unfinished(self) -> tuple[Entry, ...]:
        """Charges whose release was never finished; they stay charged."""
        entries = self.entries
        done = chain.committed(entries)
        return tuple(entry for entry in entries if entry.kind == "reserve" and entry.hash not in done)

    def reserve(  # noqa: PLR0913 - one argument a fact of the entry
        self,
        release: str,
        loss: Loss,
        hidden: Neighbours,
        plan_hash: str,
        when: datetime | None = None,
        period: str = "",
        year: int | None = None,
        *,
        parts: Sequence[Loss] = (),
    ) -> Entry:
        """The charge of a release, before its first draw; refused if the limit does not cover it.

        `year` confirms that of the clock where it stands more than a year after the last entry. `parts` are what its
        measures lose, of which more is known about groups than of their sum.
        """
        named = {name: chain.given(name, text) for name, text in (("release", release), ("plan_hash", plan_hash))}
        self.tried = None
        with transaction(self.path, "BEGIN IMMEDIATE") as connection:
            entries = _sound(connection, self.path, to_write=True)
            if when is None:
                chain.refuse_leap(entries, year)
            time = chain.moment(entries, when)
            chain.ledger_of(entries).admit(release, loss, hidden, int(time[:4]))
            priced = {"loss": loss_to_dict(loss), "hidden": hidden_to_dict(hidden), "period": period}
            each = {"parts": [loss_to_dict(part) for part in parts]} if parts else {}
            self.tried = _append(connection, entries, time, "reserve", {**named, **priced, **each})
            return self.tried

    def commit(self, reservation: Entry, manifest_hash: str, counted: Ledger | None = None) -> Entry | None:
        """The word that a charged release is finished, with the hash of its manifest.

        None where a release was committed that the ledger which the manifest counted does not know: state it again.
        """
        body = {"reservation": reservation.hash, "manifest_hash": chain.given("manifest_hash", manifest_hash)}
        with transaction(self.path, "BEGIN IMMEDIATE") as connection:
            entries = _sound(connection, self.path, to_write=True)
            if reservation not in entries or reservation.kind != "reserve":
                raise LedgerError(f"{self.path} holds no such reservation; commit the entry that reserve() gave.")
            if reservation.hash in chain.committed(entries):
                raise LedgerError(f"Entry {reservation.sequence} of {self.path} is committed already; reserve again.")
            if counted and counted.published != chain.ledger_of(entries).published:
                return None
            return _append(connection, entries, chain.moment(entries), "commit", body)

    def confirm(self, why: str, gone: Sequence[Entry], releases: Sequence[Release] = ()) -> tuple[Entry, ...]:
        """Enter again what is known to have been charged before the ledger was put back, and why it was."""
        chain.given("why", why)
        with transaction(self.path, "BEGIN IMMEDIATE") as connection:
            entries = before = _sound(connection, self.path, to_write=True)
            time = chain.moment(entries)
            for kind, body in drafts(entries, chain.ledger_of(entries), gone, releases):
                again = {entry.body["restored"]: entry.hash for entry in entries if "restored" in entry.body}
                whose = {"reservation": again.get(body["reservation"], body["reservation"])} if kind == "commit" else {}
                entries = (*entries, _append(connection, entries, time, kind, body | whose))
            said = {"why": why.strip(), "lost": [entry.hash for entry in gone]}
            entries = (*entries, _append(connection, entries, time, "confirm", said))
        return entries[len(before) :]

    def verify(self, anchors: Iterable[str] = ()) -> list[str]:
        """What is wrong with the file, in words; an anchor is a ledger head printed in a release's manifest."""
        return problems(self.path, anchors)


def problems(path: str | os.PathLike[str], anchors: Iterable[str] = ()) -> list[str]:
    """What is wrong with a ledger's file, in words, also where it is too broken to open; empty if all is well."""
    try:
        with transaction(Path(path)) as connection:
            found = _altered_schema(connection)
            entries, broken = _read(connection)
    except LedgerError as error:
        return [str(error)]
    hashes = {entry.body.get("restored", entry.hash) for entry in entries} | {entry.hash for entry in entries}
    lost = [
        f"No entry has the hash {anchor[:12]}…, to which a release is anchored: "
        "the file was rolled back to an older copy, or the release was charged to another ledger."
        for anchor in ([anchors] if isinstance(anchors, str) else anchors)
        if anchor not in hashes
    ]
    return found + broken + lost


def uncharged(account: Account, release: Release) -> list[str]:
    """Why a release is not the one that an entry of the ledger was charged for and committed; empty if it is."""
    anchor, entries = release.manifest.ledger, account.entries
    if anchor is None:
        return ["It names no charge: it is a rehearsal, or its manifest was edited."]
    reserved = (entry for entry in entries if entry.kind == "reserve")
    charge = next((one for one in reserved if anchor.head in {one.hash, one.body.get("restored")}), None)
    if charge is None:
        return ["Its ledger head is no charge of this ledger."]
    if chain.committed(entries).get(charge.hash) != release.id:
        return ["The charge that it names was committed for another manifest, or never: the release was altered."]
    if charge.body["loss"] != release.manifest.promise.loss:
        return ["It promises another loss than was charged."]
    return []


def _lay_out(path: Path, body: dict[str, Any]) -> None:
    with transaction(path, "BEGIN IMMEDIATE") as connection:
        for statement in _MADE.values():
            connection.execute(statement)
        _append(connection, (), chain.moment(()), "open", body)


def _sound(connection: sqlite3.Connection, path: Path, to_write: bool = False) -> tuple[Entry, ...]:
    """Every entry, if nothing is wrong with any."""
    entries, wrong = _read(connection)
    wrong += _altered_schema(connection) if to_write else []
    if wrong:
        raise LedgerError(f"The ledger {path} is not as it was written; charge nothing to it. {' '.join(wrong)}")
    return entries


def _read(connection: sqlite3.Connection) -> tuple[tuple[Entry, ...], list[str]]:
    """Every entry, and what is wrong with them."""
    rows = connection.execute("SELECT sequence, time, kind, body, previous, hash FROM entries ORDER BY sequence")
    entries = tuple(Entry.read(*row) for row in rows)
    wrong = chain.broken_links(entries)
    # A flipped bit can hide the last row and leave a shorter, whole chain: the file's own accounts must agree too.
    if connection.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
        wrong.append("SQLite finds the file damaged.")
    if connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall() != [("entries", len(entries))]:
        wrong.append(f"It holds {len(entries)} entries and its counter says another number: entries were deleted.")
    return entries, wrong or chain.broken_meaning(entries)


def _altered_schema(connection: sqlite3.Connection) -> list[str]:
    found = {
        f"{kind} {name}": sql for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master")
    }
    names = sorted(name for name in found.keys() | _SCHEMA.keys() if found.get(name) != _SCHEMA.get(name))
    listed = ", ".join(f"{name} ({'altered or foreign' if name in found else 'missing'})" for name in names)
    return [f"The table and the triggers that keep it append-only were changed: {listed}."] if names else []


def _append(
    connection: sqlite3.Connection, entries: tuple[Entry, ...], time: str, kind: str, body: dict[str, Any]
) -> Entry:
    """The next entry, written; its random mark keeps two copies of a ledger from ever growing alike."""
    before = entries[-1].hash if entries else chain.FIRST
    entry = Entry(len(entries) + 1, time, kind, body | {"mark": secrets.token_hex(16)}, before, "")
    entry = replace(entry, hash=entry.sealed())
    row = (entry.sequence, entry.time, entry.kind, chain.canonical(entry.body), entry.previous, entry.hash)
    connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
    return entry
