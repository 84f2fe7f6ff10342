"""How to use protected microdata, as a page of text beside the file."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from sfumato.query.engine import QueryEngine
from sfumato.query.replicates import ValueColumn

_ROWS = (
    "its id and attributes as codes, which are public, and values that are protected. A value alone says little of its "
    "row; sums of rows are what it is for."
)
_TOTALS = (
    "Totals. Add up the values of any rows that you choose by public attributes. Keep negative values: they are part "
    "of what makes totals right on average. Do not round or drop rows before adding up."
)


def how_to_use(engine: QueryEngine, path: Path, columns: Sequence[ValueColumn]) -> str:
    """What the columns are, how to add them up, and how to tell the error of what comes out."""
    manifest = engine.release.manifest
    hidden = manifest.promise.words if manifest.promise.formal else "nothing, as the release is not formally private."
    said = [
        f"{manifest.title}, {manifest.period}: protected microdata",
        *engine.warnings(),
        f"{path.name} has one row for each {manifest.unit} of the public register: {_ROWS}",
        *(_column(one) for one in columns),
        _TOTALS,
        _errors(columns),
        f"What is protected: {hidden} The loss is {manifest.promise.loss_words}.",
        f"Cite as: {engine.cite()}",
    ]
    return "\n\n".join(fill(one, 100, break_long_words=False) for one in said) + "\n"


def _column(one: ValueColumn) -> str:
    subject, count = one.product.subject, one.replicates
    more = f", and replicates {one.name}_r1 to {one.name}_r{count}" if count else ""
    noted = f" {subject.note}" if subject.note else ""
    return f"{one.name}: {subject.title}, in {subject.unit}; {one.name}_variance{more} are for its error.{noted}"


def _errors(columns: Sequence[ValueColumn]) -> str:
    name, count = columns[0].name, columns[0].replicates
    bound = (
        f"The square root of the sum of {name}_variance over the rows is the standard error that a total would have if "
        "the rows had not been brought into agreement with totals; its true one is about that or less, far less for "
        "totals of many rows."
    )
    if not count:
        return f"Standard errors. {bound} Write replicates to have it exactly, or ask `sfumato table`."
    return (
        f"Standard errors. Add up each replicate as you add up the value: with T the total of {name} and T_r those of "
        f"{name}_r1 to {name}_r{count}, the standard error of T is the root of the mean of (T_r - T)², good to about "
        f"{100 / (2 * count) ** 0.5:.0f}%. The same holds for ratios and differences. Margins at 90% are 1.645 times "
        f"that. {bound}"
    )
