"""Assess: a release against the microdata it was made from, all numbers of it, for the agency alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import from_json, to_json

from sfumato.confidential.assessment.comparisons import Compared, ComparedTable, Numbers, ReportRules, mean, pooled
from sfumato.confidential.assessment.honesty import bounds, errors, honesty
from sfumato.confidential.assessment.means import means
from sfumato.confidential.assessment.pairs import MOST_CELLS, Pair, looked_at, pairs, tables
from sfumato.confidential.assessment.rehearsal import Rehearsal
from sfumato.confidential.assessment.risk import flips, nested, slivers, uniques
from sfumato.confidential.assessment.sweep import Sweep, currency_of
from sfumato.confidential.assessment.truth import Truths
from sfumato.confidential.assessment.utility import (
    by_size,
    cramers_v,
    differences,
    grade_a,
    hellinger,
    overlaps,
    publishable,
)
from sfumato.confidential.clips import ClipFit, clip_fits
from sfumato.confidential.labels import published
from sfumato.confidential.left_out import left_out
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.sealed import Sealed
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.release import Release, now, open_release
from sfumato.release.weighting import is_weighted

NOTICE = "CONFIDENTIAL: made from the microdata; do not publish."
STAGES = ("read", "compared", "rehearsed")
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Sealed):
    """Risk and utility of a release against the true data: plain numbers, as confidential as the data."""

    numbers: Numbers

    def to_html(self) -> str:
        """One page that stands alone: no script, no font, no picture from elsewhere."""
        from sfumato.confidential.assessment.page import page

        return page(self.numbers)


def assess(
    plan: Plan,
    microdata: Microdata,
    folder: Path | str,
    rules: ReportRules | None = None,
    sweep: Sweep | None = None,
    progress: Progress = lambda stage: None,  # noqa: ARG005 - silence
) -> Assessment:
    """Compare every table that matters; a release that was altered or is of another plan is refused."""
    if not plan.over.table_by_table(plan.measures):
        raise PlanError(
            "A release over a frame, or of suppressed tables, is laid beside the truth by `side_by_side`, alone or "
            "with others."
        )
    plan.over.refuse_assessing(plan.measures)
    plan, _ = published(plan, microdata)
    rules, release = rules or ReportRules(), open_release(folder)
    with closing(Truths(plan, microdata, weighted=rules.least_weighted is not None, wanted=rules.tables)) as truths:
        found = pairs(plan, release, truths)
        progress("read")
        numbers = _about(plan, release, rules)
        fits, rows_left_out = clip_fits(plan, microdata), left_out(plan, microdata)
        clips = {name: _fits(fits, name) for name in dict.fromkeys(one.measure for one in fits)}
        numbers["products"] = [_product(pair, plan, rules, clips) for pair in found]
        numbers["at_most"] = rows_left_out.to_dict() if rows_left_out else None
        numbers["means"] = list(means(release, found, rules))
        progress("compared")
        numbers["sweep"] = None
        if sweep:
            cells = {measure.name: truths.cells(measure) for measure in plan.measures}
            points = list(Rehearsal(release, cells, found, rules).points(plan, sweep))
            numbers["sweep"] = {"currency": currency_of(plan.limit), "draws": sweep.draws, "points": points}
    progress("rehearsed")
    return Assessment(plainly(numbers))


def _about(plan: Plan, release: Release, rules: ReportRules) -> Numbers:
    manifest = release.manifest
    return {
        "confidential": True,
        "notice": NOTICE,
        "title": manifest.title,
        "period": manifest.period,
        "unit": manifest.unit,
        "made": now(),
        "release": {
            "id": release.id,
            "created": manifest.created,
            "rehearsal": manifest.rehearsal,
            "releasable": manifest.releasable,
            "why": manifest.why,
            "hidden": manifest.promise.words,
            "loss": manifest.promise.loss_words,
            "power": manifest.promise.power_at_5_percent,
            "right_guess": manifest.promise.right_guess,
            "same_plan": _same_plan(plan, release),
        },
        "rules": rules,
        "grades": dict(plan.publish.grades),
    }


def _same_plan(plan: Plan, release: Release) -> bool:
    """Whether the plan is the one that stands in the release."""
    try:
        return release.folder is not None and Plan.read(release.folder / "plan.toml") == plan
    except PlanError:
        return False


def _product(pair: Pair, plan: Plan, rules: ReportRules, clips: Mapping[str, str]) -> Numbers:
    compared = [pair.table(names) for names in looked_at(pair, rules)]
    subject = pair.product.subject
    small = [table.cells for table in compared if table.dimension <= 2] or [table.cells for table in compared]
    sampling = pair.sampling.why if pair.sampling else ""
    return {
        "name": subject.name,
        "title": subject.title,
        "unit": subject.unit,
        "statistic": subject.statistic,
        "mechanism": subject.mechanism,
        "cells": pair.truth.laid_out.size,
        "attributes": [attribute.label for attribute in pair.truth.laid_out.attributes],
        "census": plan.schema.weight is None and plan.sampling == "census",
        "no_sampling_error": sampling,
        "bounds": bounds(pair.truth) | {"fit": clips.get(pair.truth.measure.name, "")},
        "by_dimension": list(_by_dimension(compared, pair, plan, rules)),
        "by_size": [_sized(words, cells) for words, cells in by_size(pooled(small))] if small else [],
        "tables": [_table(table, pair, rules) for table in compared],
        "left_out": list(_left_out(compared, pair, rules)),
    }


def _fits(fits: Sequence[ClipFit], measure: str) -> str:
    """What is wrong with the bounds of a measure, whichever of its columns they are of."""
    return " ".join(one.words for one in fits if one.measure == measure and one.words)


def _sized(words: str, cells: Compared) -> Numbers:
    return {"size": words, "cells": cells.size, "differences": differences(cells), "honesty": honesty(cells)}


def _by_dimension(compared: list[ComparedTable], pair: Pair, plan: Plan, rules: ReportRules) -> Iterator[Numbers]:
    for dimension in sorted({table.dimension for table in compared}):
        same = [table for table in compared if table.dimension == dimension]
        cells = pooled([table.cells for table in same])
        yield {
            "dimension": dimension,
            "tables": len(same),
            "cells": cells.size,
            "stated": cells.stated().size,
            "flips": flips(cells, rules),
            "independent": max(table.cells.stated().size for table in same),
            "uniques": uniques(cells) if _counts_records(pair) else None,
            "slivers": _slivers(same, pair, rules),
            "differences": differences(cells),
            "hellinger": mean([_hellinger(table, pair) for table in same]),
            "publishable": publishable(cells, rules),
            "grade_a": grade_a(cells, plan.publish.grades),
            "honesty": honesty(cells),
            "errors": errors(cells),
            "overlap": overlaps(cells),
        }


def _hellinger(table: ComparedTable, pair: Pair) -> float | None:
    """How unlike the shares of cells are; none where they may not be summed, as there are no shares then."""
    return hellinger(table.cells.truth, table.cells.released) if pair.product.subject.additive else None


def _counts_records(pair: Pair) -> bool:
    """Whether a product counts the records themselves, and not what these stand for."""
    subject = pair.product.subject
    return subject.statistic == "count" and not is_weighted(subject.weighting)


def _slivers(compared: list[ComparedTable], pair: Pair, rules: ReportRules) -> Numbers | None:
    """Slivers in the small tables of a count; nothing for a total, whose size says little about a record."""
    small = [table for table in compared if 1 <= table.dimension <= 2]
    if not _counts_records(pair) or not small:
        return None
    return slivers([nested(pair.product, table, rules) for table in small])


def _table(table: ComparedTable, pair: Pair, rules: ReportRules) -> Numbers:
    cells = table.cells
    crossed = table.dimension == 2 and pair.product.subject.additive
    return {
        "by": list(table.table.names),
        "title": table.title,
        "cells": cells.size,
        "flips": flips(cells, rules),
        "differences": differences(cells),
        "honesty": honesty(cells),
        "hellinger": _hellinger(table, pair),
        "cramers_v": [cramers_v(table.spread(cells.truth)), cramers_v(table.spread(cells.released))]
        if crossed
        else None,
    }


def _left_out(compared: list[ComparedTable], pair: Pair, rules: ReportRules) -> Iterator[str]:
    """What was not looked at, or only in part, in words."""
    if not rules.tables and (unseen := pair.truth.laid_out.unseen()):
        yield f"{pair.name}: {unseen}."
    for names in rules.tables:
        if {*names} <= {*pair.truth.laid_out.names} and pair.truth.laid_out.holder(names) is None:
            yield f"{pair.name} has no table of {', '.join(names)} together."
    for names in tables(pair, rules):
        size = pair.truth.laid_out.table(names).size
        if size > MOST_CELLS:
            yield f"{pair.name} by {', '.join(names)} was not looked at: {size:,} cells, more than {MOST_CELLS:,}."
    for table in compared:
        stated = table.cells.stated().size
        if stated == 0 < table.cells.size:
            yield f"{pair.name}, {table.title}: the release withholds the error of its noise."
        elif stated < table.cells.size:
            spread = f"{stated:,} cells, evenly spread, stand for all {table.cells.size:,}"
            yield f"{pair.name}, {table.title}: stated errors were worked out for a part; {spread}."


def plainly(numbers: Numbers) -> Numbers:
    """Numbers as JSON knows them: dataclasses as tables, what is not finite as nothing."""
    plain: Numbers = from_json(to_json(numbers, inf_nan_mode="null", fallback=lambda number: number.item()))
    return plain
