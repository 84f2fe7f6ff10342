"""The chain of a ledger's entries: what each says, how it is sealed, what can be wrong with them; no file in sight."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from sfumato.errors import LedgerError, SfumatoError
from sfumato.privacy.ledger import Charge, Ledger
from sfumato.privacy.notation import hidden_from_dict, limit_from_dict, loss_from_dict

FIRST = "0" * 64
FORMAT = 1
KINDS = ("open", "reserve", "commit", "confirm")
YEAR = timedelta(days=366)


@dataclass(frozen=True)
class Entry:
    """One line of the account; its hash covers all of it and, through `previous`, all before it."""

    sequence: int
    time: str
    kind: str
    body: dict[str, Any]
    previous: str
    hash: str

    @classmethod
    def read(cls, sequence: int, time: Any, kind: Any, body: Any, previous: Any, written: Any) -> Self:
        """The entry of a row; what cannot have been written so becomes something that its hash does not fit."""
        try:
            said = json.loads(body)
        except (TypeError, ValueError, RecursionError):
            said = None
        as_written = isinstance(said, dict) and canonical(said) == body
        texts = [text if isinstance(text, str) else repr(text) for text in (time, kind, previous, written)]
        return cls(sequence, texts[0], texts[1], said if as_written else {}, texts[2], texts[3])

    @property
    def year(self) -> int:
        return int(self.time[:4])

    def sealed(self) -> str:
        """The hash that what stands here should have."""
        said = canonical([self.sequence, self.time, self.kind, self.body, self.previous])
        return hashlib.sha256(said.encode()).hexdigest()


def broken_links(entries: tuple[Entry, ...]) -> list[str]:
    wrong, before, due = [], FIRST, 1
    for entry in entries:
        if entry.sequence != due:
            wrong.append(f"Entry {due} is missing: entry {entry.sequence} stands in its place.")
        elif entry.previous != before:
            wrong.append(f"Entry {due} does not follow from the entry before it: one of the two was replaced.")
        if entry.hash != entry.sealed():
            wrong.append(f"Entry {entry.sequence} was altered after it was written.")
        before, due = entry.hash, entry.sequence + 1
    return wrong if entries else ["It holds no entry."]


def broken_meaning(entries: tuple[Entry, ...]) -> list[str]:
    wrong = []
    reserved: set[str] = set()
    for entry in entries:
        whose = str(entry.body.get("reservation"))
        if entry.kind not in KINDS or (entry.kind == "open") != (entry.sequence == 1):
            wrong.append(f"Entry {entry.sequence} is out of place: the first entry, and only it, opens the ledger.")
        elif entry.kind == "commit" and whose not in reserved:
            wrong.append(f"Entry {entry.sequence} commits what was not reserved before it, or was committed already.")
        if entry.kind == "reserve":
            reserved.add(entry.hash)
        reserved.discard(whose)
    try:
        ledger_of(entries)
    except (SfumatoError, AttributeError, KeyError, TypeError, ValueError):
        wrong.append("It is written in a form that this version does not read.")
    return wrong


def committed(entries: tuple[Entry, ...]) -> dict[str, str]:
    """The charges of which a release came, by the hash of each, with the id of the release, in the order of these."""
    return {one.body["reservation"]: one.body.get("manifest_hash", "") for one in entries if one.kind == "commit"}


def ledger_of(entries: tuple[Entry, ...]) -> Ledger:
    opening, done = entries[0].body, committed(entries)
    if opening["format"] != FORMAT:
        raise LedgerError(f"This version reads ledgers of format {FORMAT}.")
    charges = tuple(_charge(entry, done) for entry in entries if entry.kind == "reserve")
    hidden, limit = hidden_from_dict(opening["hidden"]), limit_from_dict(opening["limit"])
    newest = next(reversed(done.values()), "")
    return Ledger(opening["population"], hidden, limit, opening["per_year"], charges, entries[0].hash, newest)


def _charge(entry: Entry, done: Mapping[str, str]) -> Charge:
    body, finished = entry.body, entry.hash in done
    loss, period = loss_from_dict(body["loss"]), body.get("period", "")
    year, parts = body.get("year", entry.year), tuple(loss_from_dict(part) for part in body.get("parts", ()))
    return Charge(body["release"], loss, year, finished, period, done.get(entry.hash, ""), parts)


def moment(entries: tuple[Entry, ...], when: datetime | None = None) -> str:
    """The time of a new entry in UTC, never before the last charge: a year that is over stays closed."""
    latest = entries[-1].time if len(entries) > 1 else ""
    if when is None:
        return max(datetime.now(UTC).isoformat(timespec="microseconds"), latest)
    if when.tzinfo is None:
        raise LedgerError("The time of a charge needs a time zone; give it one, for example datetime.now(UTC).")
    asked = when.astimezone(UTC).isoformat(timespec="microseconds")
    if asked < latest:
        raise LedgerError(f"A charge at {asked} would stand before the last entry ({latest}); charge in order of time.")
    return asked


def refuse_leap(entries: tuple[Entry, ...], year: int | None = None) -> None:
    """A limit for each year trusts the clock: one that jumped ahead would open a year that has not begun.

    More than a year after the last entry, whoever runs says that the year of the clock is the one it is.
    """
    last, now = datetime.fromisoformat(entries[-1].time), datetime.now(UTC)
    if entries[0].body["per_year"] and now - last > YEAR and year != now.year:
        raise LedgerError(
            f"The clock says {now:%Y-%m-%d}, more than a year after the last entry of the ledger ({last:%Y-%m-%d}), "
            f"and its limit starts anew each year; set the clock, or, if it is right, say so with --year {now.year}."
        )


def canonical(said: Any) -> str:
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def given(name: str, text: str) -> str:
    """A text that an entry needs."""
    if not isinstance(text, str) or not text.strip():
        raise LedgerError(f"An entry needs its {name} as text, and got none.")
    return text
