"""The golden hashes: read, computed again, and compared."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.golden.addresses import hash_replies, read_addresses
from tests.golden.releases import hash_files

HASHES = Path(__file__).with_name("hashes.json")
Hashes = dict[str, dict[str, str]]


def read_hashes() -> Hashes:
    """The hashes as they were last accepted, by release or as "served"."""
    hashes: Hashes = json.loads(HASHES.read_text(encoding="utf-8"))
    return hashes


def compute_hashes(folders: Mapping[str, Path]) -> Hashes:
    """The hashes of these releases and of what is served of them."""
    served = hash_replies(folders.values(), read_addresses())
    return {name: hash_files(folder) for name, folder in folders.items()} | {"served": served}


def find_moves(old: Hashes, new: Hashes) -> list[str]:
    """What was added, removed or changed, a line each."""
    lines = []
    for name in sorted({*old, *new}):
        before, after = old.get(name, {}), new.get(name, {})
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                change = "added" if key not in before else "removed" if key not in after else "changed"
                lines.append(f"{name}: {key} {change}")
    return lines


def write_hashes(hashes: Hashes) -> None:
    """Accept these hashes."""
    HASHES.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
