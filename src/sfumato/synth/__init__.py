"""Generators of realistic synthetic microdata: no row describes anybody."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import PlanError, nearest
from sfumato.synth.atlas import write_atlas
from sfumato.synth.earnings import write_pseo, write_veo
from sfumato.synth.employment import employment
from sfumato.synth.iab import write_iab
from sfumato.synth.lodes import write_lodes
from sfumato.synth.ors import ors, paper_set
from sfumato.synth.qcew import write_qcew
from sfumato.synth.umetrics import write_umetrics

GENERATORS: dict[str, Callable[..., pa.Table]] = {"employment": employment, "ors": ors, "ors-paper": paper_set}

WRITERS: dict[str, Callable[..., Path]] = {
    "qcew": write_qcew,
    "lodes": write_lodes,
    "iab": write_iab,
    "atlas": write_atlas,
    "pseo": write_pseo,
    "veo": write_veo,
    "umetrics": write_umetrics,
}
"""Data sets of several files, each written by a function of its own."""
QUARTERLY = ("qcew",)
MADE_UP = "made up by a program, so that no number describes a real person, business or place"
"""What `[data] synthetic` of a plan says of data that are made here."""


def write(
    name: str,
    folder: Path,
    rows: int | None = None,
    seed: int = 1,
    quarters: int | None = None,
    wac: Path | None = None,
) -> Path:
    """The path of `<folder>/<name>.parquet`, freshly written; without `rows`, the generator's own number of them.

    Of a data set of several files, such as qcew, it is the plan that reads them.
    """
    if name not in {*GENERATORS, *WRITERS}:
        listed = [*GENERATORS, *WRITERS]
        raise PlanError(f"There is no synthetic data set '{name}', only {', '.join(listed)}; {nearest(name, listed)}")
    size = {} if rows is None else {"rows": rows}
    if quarters is not None and name not in QUARTERLY:
        raise PlanError(f"{name} has no quarters; only {', '.join(QUARTERLY)} has.")
    if wac is not None and (name != "lodes" or rows is not None):
        raise PlanError(
            "A WAC file says how many jobs there are in lodes, and nothing of other data or numbers of rows."
        )
    if name in WRITERS:
        more = {"quarters": quarters, "wac": wac}
        return WRITERS[name](
            Path(folder), seed=seed, **size, **{key: one for key, one in more.items() if one is not None}
        )
    table = GENERATORS[name](seed=seed, **size)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return path
