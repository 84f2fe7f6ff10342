"""Compute the golden hashes again, print which moved, and accept them: `make golden`."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.hashes import HASHES, compute_hashes, find_moves, read_hashes, write_hashes
from tests.golden.releases import rehearse_all


def main() -> None:
    """Write the hashes of today; a commit that moves some says why."""
    with TemporaryDirectory() as folder:
        hashes = compute_hashes(rehearse_all(Path(folder) / "data", Path(folder) / "releases"))
    moves = find_moves(read_hashes() if HASHES.exists() else {}, hashes)
    write_hashes(hashes)
    sys.stdout.writelines(f"{move}\n" for move in moves or ["No golden hash moved."])


if __name__ == "__main__":
    main()
