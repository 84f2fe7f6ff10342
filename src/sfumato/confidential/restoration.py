"""Restoration: what is entered again in a ledger whose newest copy is gone."""

from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.confidential.chain import Entry, committed
from sfumato.errors import LedgerError
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.notation import hidden_from_dict
from sfumato.release import Release

Draft = tuple[str, dict[str, Any]]


def drafts(
    entries: tuple[Entry, ...], ledger: Ledger, lost: Sequence[Entry], releases: Sequence[Release]
) -> Iterator[Draft]:
    """The charges that were lost and the words that releases came of them, each under the charge's hash of then.

    Limits are not asked: what was drawn was drawn. A charge of a year that is over keeps its year.
    """
    for one in releases:
        _refuse_foreign(one, ledger)
    charged = {entry.hash for entry in entries if entry.kind == "reserve"}
    charged |= {entry.body["restored"] for entry in entries if "restored" in entry.body}
    again = {entry.hash: _again(entry) for entry in lost if entry.kind == "reserve"}
    again = {one.manifest.ledger.head: _of_release(one) for one in releases if one.manifest.ledger} | again
    for head, body in again.items():
        if head not in charged:
            yield "reserve", body | {"restored": head}
    done = set(committed(entries).values())
    for head, name in _published(lost, releases).items():
        if name not in done:
            yield "commit", {"reservation": head, "manifest_hash": name}


def _published(lost: Sequence[Entry], releases: Sequence[Release]) -> dict[str, str]:
    """The releases by the charge of each, in the order in which they were published."""
    told = {one.body["reservation"]: one.body["manifest_hash"] for one in lost if one.kind == "commit"}
    anchors = sorted(
        ((one.manifest.ledger, one.id) for one in releases if one.manifest.ledger), key=lambda one: one[0].number
    )
    given = {anchor.head: name for anchor, name in anchors}
    return {head: name for head, name in told.items() if head not in given} | given


def _again(entry: Entry) -> dict[str, Any]:
    kept = ("release", "plan_hash", "loss", "parts", "hidden", "period")
    return {name: entry.body[name] for name in kept if name in entry.body} | {
        "year": entry.body.get("year", entry.year)
    }


def _of_release(release: Release) -> dict[str, Any]:
    manifest, anchor = release.manifest, release.manifest.ledger
    year = (anchor.year if anchor else 0) or int(manifest.created[:4])
    said = {"release": manifest.name, "plan_hash": manifest.files["plan.toml"].sha256, "period": manifest.period}
    lost = {"loss": manifest.promise.loss, "parts": [spend.loss for spend in manifest.spends]}
    return said | lost | {"hidden": manifest.promise.hidden, "year": year}


def _refuse_foreign(release: Release, ledger: Ledger) -> None:
    """A release that was charged to another ledger is not entered in this one."""
    manifest, anchor = release.manifest, release.manifest.ledger
    if anchor is None or anchor.population != ledger.population or anchor.ledger_id not in {"", ledger.id}:
        raise LedgerError(f"The release {release.id[:12]} was not charged to this ledger; leave it out.")
    if hidden_from_dict(manifest.promise.hidden).covers(ledger.hidden) != 1:
        raise LedgerError(f"The release {release.id[:12]} hides others than the ledger does; leave it out.")
