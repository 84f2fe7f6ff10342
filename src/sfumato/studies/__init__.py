"""Published tables and figures, reproduced and printed beside the published numbers."""

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sfumato.pictures import Picture
from sfumato.studies import (
    coverage,
    iab_full,
    iab_map,
    iab_map_picture,
    iab_small,
    interactive,
    lodes_curves,
    lodes_figures,
    lodes_margins,
    lodes_pictures,
    lodes_promises,
    margin_curves,
    margin_planner,
    margin_plans,
    margin_tables,
    masking,
    mose,
    mose_example,
    ors,
    ors_populations,
    ors_weights,
    percentiles,
    private_lines,
    qcew,
    qcew_utility,
    suppression,
    umetrics,
)
from sfumato.studies.study import Line, Study

LINES: dict[str, Callable[..., list[Line]]] = {
    "coverage": coverage.lines,
    "iab-small": iab_small.lines,
    "iab-full": iab_full.lines,
    "iab-map": iab_map.lines,
    "ors-table-2": ors.table_2,
    "ors-table-4": ors_populations.table_4,
    "ors-table-3": ors_weights.table_3,
    "ors-interactive": interactive.lines,
    "lodes-margins": lodes_margins.lines,
    "lodes-mechanisms": lodes_promises.mechanisms,
    "lodes-theorem-7-5": lodes_promises.theorem,
    "lodes-loss-curves": lodes_curves.lines,
    "margins-ors": margin_tables.lines,
    "margins-currencies": margin_tables.currencies,
    "margins-planner": margin_planner.lines,
    "margins-plans": margin_plans.lines,
    "mose": mose.lines,
    "mose-against-suppression": mose.against_suppression,
    "umetrics": umetrics.lines,
    "percentiles": percentiles.lines,
    "private-lines": private_lines.lines,
    "qcew-intervals": qcew.intervals,
    "qcew-power": qcew.powers,
    "qcew-split": qcew.splits,
    "qcew-total": qcew.state_totals,
    "qcew-example": qcew.worked_example,
    "qcew-utility": qcew_utility.table,
    "qcew-curves": qcew_utility.curves,
    "suppression-slides": suppression.lines,
    "qcew-warner": masking.randomized_response,
    "qcew-fuller": masking.additive,
}
PICTURES: dict[str, Callable[..., Picture]] = {
    "iab-map": iab_map_picture.picture,
    "lodes-loss-curves": lodes_curves.picture,
    "margins-ors": margin_curves.curves,
    "mose": mose.picture,
    "percentiles": percentiles.picture,
}
EXAMPLES: dict[str, Callable[[Path], list[Line]]] = {"mose": mose_example.lines}
RECORDS = {}
for number in lodes_figures.FIGURES:
    LINES[f"lodes-figure-{number}"] = partial(lodes_figures.lines, number)
    PICTURES[f"lodes-figure-{number}"] = partial(lodes_pictures.picture, number)
    RECORDS[f"lodes-figure-{number}"] = partial(lodes_figures.records, number)
WORDS = tomllib.loads(Path(__file__).with_name("studies.toml").read_text(encoding="utf-8"))
STUDIES = {
    name: Study(
        name,
        lines=LINES[name],
        picture=PICTURES.get(name),
        records=RECORDS.get(name),
        example=EXAMPLES.get(name),
        **words,
    )
    for name, words in WORDS.items()
}

__all__ = ["STUDIES", "Line", "Study"]
