"""Footprint: the memory that opened releases take, told before that from manifests and the ends of files."""

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.errors import how_many
from sfumato.release.keys import plain_file
from sfumato.release.manifest import Manifest, ProductLine
from sfumato.release.products.kinds import kinds
from sfumato.release.verify import read_manifest
from sfumato.schema.level import Level
from sfumato.schema.memory import Memory
from sfumato.schema.parent_rows import ParentRows

OPENED = 180_000_000
"""Bytes of the program that answers and of the one that starts it, with their libraries."""
PER_LAID_OUT, PER_LISTED, PER_CODE = 8, 16, 1_000
"""Bytes of a cell that is laid out, of one that is listed, and of a code with its label and all that finds it."""


def opened_memory(folders: Sequence[Path], answers: int = 0) -> Memory:
    """What releases take that are opened together, with so many bytes of answers that are kept."""
    found = [_held(folder, read_manifest(folder)[1]) for folder in folders]
    cells, taken = (sum(column) for column in zip(*found, strict=True)) if found else (0, 0)
    instead = "serve fewer releases, one of a coarser level, or use a larger machine."
    return Memory(how_many(cells, "cell"), OPENED + taken + answers, instead=instead)


def _held(folder: Path, manifest: Manifest) -> tuple[int, int]:
    """The cells of a release, and the bytes of these and of its codes."""
    trees = {one.name: _tree(folder / "levels" / f"{one.name}.parquet") for one in manifest.attributes}
    taken, cells = PER_CODE * sum(len(tree.above) for tree in trees.values()), 0
    for line in manifest.products:
        rows = _rows(folder / line.file)
        kind = kinds().get(line.kind)
        laid_out = kind is not None and kind.laid_out and all(Level.read(one).name in trees for one in line.by)
        taken += PER_LAID_OUT * _combinations(line, trees) if laid_out else PER_LISTED * rows
        cells += rows
    return cells, taken


def _combinations(line: ProductLine, trees: dict[str, ParentRows]) -> int:
    """All that are laid out, those that are impossible too."""
    return prod(_leaves(trees[level.name], level.depth) for level in map(Level.read, line.by))


def _leaves(tree: ParentRows, depth: int | None) -> int:
    """The codes that nothing stands under, where those below a depth are left out."""
    if depth is None:
        return len(tree.leaves)
    return int((tree.deep[tree.leaves] < depth).sum() + (tree.deep == depth).sum())


def _tree(path: Path) -> ParentRows:
    """The hierarchy of a file of levels; none where it cannot be read, which the opening says in its own words."""
    if not plain_file(path):
        return ParentRows(np.empty(0, dtype=np.intp))
    try:
        listed = pq.read_table(path, columns=["code", "parent"])
    except (pa.ArrowException, OSError):
        return ParentRows(np.empty(0, dtype=np.intp))
    above = pc.fill_null(pc.index_in(listed["parent"].combine_chunks(), listed["code"].combine_chunks()), -1)
    return ParentRows(np.asarray(above, dtype=np.intp))


def _rows(path: Path) -> int:
    """The rows of a file by its end; none where it cannot be read."""
    if not plain_file(path):
        return 0
    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0
