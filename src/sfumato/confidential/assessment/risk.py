"""Risk: what the release still says about single records, and what it no longer says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.confidential.assessment.comparisons import (
    Compared,
    ComparedTable,
    Floats,
    Integers,
    Numbers,
    ReportRules,
    counted,
    margin,
    quantile,
    totals,
)
from sfumato.confidential.sealed import Sealed
from sfumato.release import Product


def flips(cells: Compared, rules: ReportRules) -> Numbers:
    """How many cells went from zero to something and back; zero is less than the threshold away from 0.

    The more of them, the less an empty or occupied cell gives away.
    """
    near = rules.near_zero * cells.worth
    was, now = np.abs(cells.truth) < near, np.abs(cells.released) < near
    moved = counted(zeros=was, to_nonzero=was & ~now, nonzeros=~was, to_zero=~was & now)
    return {"cells": cells.size, "threshold": near, **moved, **counted(negative=cells.released <= -near)}


def uniques(cells: Compared) -> Numbers | None:
    """How many cells hold one record, look so in the release, and both; nothing without a number of records there."""
    if cells.counted is None:
        return None
    unique, look = cells.records == 1, np.rint(cells.counted) == 1
    return {"cells": cells.size, **counted(unique=unique, look_unique=look, both=unique & look)}


@dataclass(frozen=True, eq=False, repr=False)
class NestedDifferences(Sealed):
    """Differences of nested questions: the records in each, what the release says of them, its stated error."""

    true: Integers
    said: Floats
    error: Floats


def nested(product: Product, looked: ComparedTable, rules: ReportRules) -> NestedDifferences:
    """What an attacker gets by asking a universe, asking it again without one level, and taking the difference.

    Both questions are put to the product as anyone would, and both hold enough records to be published.
    """
    table = looked.table
    records, noise = looked.spread(looked.cells.records), looked.spread(looked.cells.noise)
    found = []
    for place, name in enumerate(table.names):
        rest = [one for one in table.names if one != name]
        said = np.expand_dims(totals(product, table.margin(rest)), place) - totals(product, table, without=name)
        larger = np.expand_dims(margin(records, table.names, rest), place)
        asked = table.possible & (larger - records >= rules.least)
        found.append((records[asked], said[asked], np.sqrt(noise[asked])))
    true, said, error = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return NestedDifferences(true.astype(np.int64), said, error)


def slivers(differences: Sequence[NestedDifferences]) -> Numbers:
    """Pairs of nested questions, both large enough to publish, and those whose difference holds one or two records.

    `told` slivers read as their true number once the released difference is rounded. `say` counts all pairs whose
    released difference reads as 1 or 2, and `say_rightly` those of them that are slivers.
    """
    true, released, error = (
        np.concatenate([getattr(difference, name) for difference in differences]) for name in ("true", "said", "error")
    )
    sliver, read = (true == 1) | (true == 2), np.rint(released)
    say = (read == 1) | (read == 2)
    return {
        "pairs": len(true),
        **counted(slivers=sliver, told=sliver & (read == true), say=say, say_rightly=say & sliver),
        "said": tuple(quantile(released[sliver], at) for at in (0.25, 0.5, 0.75)),
        "error": quantile(error[sliver & np.isfinite(error)], 0.5),
    }
