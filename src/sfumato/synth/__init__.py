"""Generators of realistic synthetic microdata: no row describes anybody."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError, nearest
from sfumato.synth.employment import employment
from sfumato.synth.ors import ors, paper_set

GENERATORS: dict[str, Callable[..., pa.Table]] = {"employment": employment, "ors": ors, "ors-paper": paper_set}


def write(name: str, folder: Path, rows: int | None = None, seed: int = 1) -> Path:
    """The path of `<folder>/<name>.parquet`, freshly written; without `rows`, the generator's own number of them."""
    if name not in GENERATORS:
        known = ", ".join(GENERATORS)
        raise PlanError(f"There is no synthetic data set '{name}', only {known}; {nearest(name, GENERATORS)}")
    size = {} if rows is None else {"rows": rows}
    table = GENERATORS[name](seed=seed, **size)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return path
