"""Verify, open, sign and withdraw releases."""

import json
from dataclasses import dataclass, replace
from os.path import lexists
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.release.certificate import certified, read_certificate
from sfumato.release.folder import Release, read_attributes
from sfumato.release.geography import read_shapes
from sfumato.release.keys import beginning, plain_file, private_key, signature
from sfumato.release.manifest import BESIDE, NAME, NOTICE, SIGNATURE, SOUND, FileLine, Manifest, digest, line
from sfumato.release.products import read_products
from sfumato.release.written import MOST_BYTES, read_json

_UNREADABLE = "A notice of its withdrawal lies beside it, whose reason cannot be read; ask its publisher."


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: nothing wrong, or what is wrong in words."""

    id: str
    problems: tuple[str, ...]
    signed: str
    releasable: bool
    why: str
    withdrawn: str | None = None
    caveats: tuple[str, ...] = ()
    certificate: str = ""

    @property
    def intact(self) -> bool:
        return not self.problems


def verify(folder: Path | str, public_key: Path | str | None = None) -> Verdict:
    """Compare every byte of a release with its manifest, and the manifest with its signature."""
    folder, public_key = Path(folder), None if public_key is None else Path(public_key)
    content = _manifest_bytes(folder)
    manifest = Manifest.from_bytes(content)
    problems = [*_file_problems(folder, manifest)]
    if content != manifest.to_bytes():
        problems.append(f"{NAME} is not written as Sfumato writes it: it was edited.")
    if manifest.releasable and (manifest.ledger is None or manifest.rehearsal or manifest.mode != SOUND):
        problems.append("The manifest says releasable, and names no charge, is a rehearsal or was made as published.")
    signed, found = signature(folder / SIGNATURE, content, public_key)
    certificate, faults = certified(folder, _plan_hash(manifest), public_key)
    withdrawn, noticed = _notice(folder, digest(content))
    problems += found + noticed + faults
    not_counted = manifest.ledger.not_counted if manifest.ledger else ""
    caveats = (*manifest.caveats, *([not_counted] if not_counted else ()))
    found_all = digest(content), tuple(problems), signed, manifest.releasable, manifest.why, withdrawn, caveats
    return Verdict(*found_all, certificate)


def _plan_hash(manifest: Manifest) -> str:
    listed = manifest.files.get("plan.toml")
    return listed.sha256 if listed else ""


def open_release(folder: Path | str, public_key: Path | str | None = None) -> Release:
    """A release that was verified first; an altered one is refused."""
    folder = Path(folder)
    changed = _changed(folder)
    verdict = verify(folder, public_key)
    if not verdict.intact:
        raise ReleaseError(f"The release {folder} is not what was published: {verdict.problems[0]}")
    manifest = Manifest.from_bytes(_manifest_bytes(folder))
    attributes = read_attributes(folder, manifest)
    shapes, products = read_shapes(folder, manifest, attributes), read_products(folder, manifest, attributes)
    certificate = read_certificate(folder)[0] if verdict.certificate else None
    return Release(manifest, verdict.id, products, verdict.withdrawn, folder, shapes, certificate, changed)


def _changed(folder: Path) -> dict[str, int]:
    """When each file was last changed, asked before it is read: what is changed while it is read is noticed too."""
    files = (path for path in folder.rglob("*") if plain_file(path))
    return {path.relative_to(folder).as_posix(): path.lstat().st_mtime_ns for path in files}


def read_manifest(folder: Path) -> tuple[str, Manifest]:
    """The id of a release and its manifest; no other file of it is looked at."""
    content = _manifest_bytes(folder)
    return digest(content), Manifest.from_bytes(content)


def _manifest_bytes(folder: Path) -> bytes:
    path = folder / NAME
    if not plain_file(path):
        raise ReleaseError(f"{folder} is not a release: it has no {NAME}. `sfumato run` writes a release folder.")
    if path.stat().st_size > MOST_BYTES:
        raise ReleaseError(f"{path} is larger than {MOST_BYTES:,} bytes, so it is no manifest.")
    return path.read_bytes()


def _file_problems(folder: Path, manifest: Manifest) -> list[str]:
    entries = {_shown(path.relative_to(folder)): path for path in folder.rglob("*")}
    there = {name for name, path in entries.items() if path.is_symlink() or not path.is_dir()}
    problems = [
        f"{name} is a link to somewhere else, or no file." for name in sorted(there) if not plain_file(entries[name])
    ]
    problems += [f"{name} is missing." for name in sorted(set(manifest.files) - there)]
    problems += [
        f"{name} does not belong to the release." for name in sorted(there - set(manifest.files) - set(BESIDE))
    ]
    for name in sorted(there & set(manifest.files)):
        if plain_file(entries[name]) and not _same(entries[name], manifest.files[name]):
            problems.append(f"{name} was altered: its size or hash is not the one in the manifest.")
    return problems


def _shown(path: Path) -> str:
    """A name as it can be printed: whoever packed the folder may have named a file in bytes that are no text."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def _same(path: Path, told: FileLine) -> bool:
    """Whether a file is the one in the manifest; one of another size is not read."""
    return path.stat().st_size == told.bytes and line(path) == told


def sign(folder: Path, key: Path) -> None:
    """Sign the manifest with an Ed25519 key in PEM."""
    (folder / SIGNATURE).write_bytes(private_key(key).sign(_manifest_bytes(folder)))


def withdraw(folder: Path, why: str) -> None:
    """Put a notice beside the manifest that this release should no longer be used, and why."""
    if not why.strip():
        raise ReleaseError("A release is withdrawn with a reason that readers will see: give --why.")
    if (folder / NOTICE).exists():
        raise ReleaseError(f"{folder} is withdrawn already; the reason that readers have seen stays.")
    notice = {"release": digest(_manifest_bytes(folder)), "why": why.strip()}
    part = folder / f".{NOTICE}"
    part.write_text(json.dumps(notice, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(folder / NOTICE)


def _notice(folder: Path, release: str) -> tuple[str | None, list[str]]:
    path = folder / NOTICE
    if not plain_file(path):
        return None, []
    try:
        notice = read_json(beginning(path))
        if set(notice) == {"release", "why"} and notice["release"] == release and isinstance(notice["why"], str):
            return notice["why"], []
    except (ValueError, TypeError):
        pass
    return None, [f"{NOTICE} is not about this release."]


def noticed(release: Release) -> Release:
    """The same release as its folder has it now: withdrawn where a notice lies there; what was withdrawn stays so.

    Whatever lies in its place and cannot be read withdraws as well, as whoever put it there meant to. A folder that is
    gone, or a disk that fails, says nothing.
    """
    if release.folder is None or release.withdrawn is not None or not lexists(release.folder / NOTICE):
        return release
    try:
        why, _ = _notice(release.folder, release.id)
    except OSError:
        why = None
    return replace(release, withdrawn=_UNREADABLE if why is None else why)
