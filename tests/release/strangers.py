"""Releases that somebody else packed: one of ours with another manifest or other files, and hashes that fit them."""

import json
import shutil
import time

import pytest

from sfumato.errors import SfumatoError
from sfumato.release import open_release
from sfumato.release.manifest import BESIDE, line


def packed(folder, to, manifest=lambda said: None, files=lambda folder: None):
    """A copy with a manifest and files that were changed, sealed so that every hash is right."""
    shutil.copytree(folder, to)
    files(to)
    said = json.loads((to / "manifest.json").read_bytes())
    names = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    said["files"] = {name: line(to / name).model_dump() for name in names if name not in BESIDE}
    found = manifest(said)
    (to / "manifest.json").write_bytes(found if isinstance(found, bytes) else as_written(said))
    return to


def as_written(said) -> bytes:
    """As `Manifest.to_bytes` writes it, whatever it says."""
    return (json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def put(*path, value):
    """A change of one place of a manifest."""

    def change(said):
        part = said
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value

    return change


def refused(folder):
    """Refused in words, and by the work of an instant: what is as long as a manifest says would take minutes."""
    begun = time.process_time()
    with pytest.raises(SfumatoError) as error:
        open_release(folder)
    assert time.process_time() - begun < 20
    assert len(str(error.value)) < 2000
    assert str(error.value).encode()
    return str(error.value)
