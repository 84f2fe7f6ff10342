"""What a plan says of its sample: replicate weights, how they were made, and stated sampling errors."""

import re
from difflib import get_close_matches
from fractions import Fraction

from sfumato.errors import PlanError
from sfumato.plan.parts import DataPart, MethodPart, PlanPart, VarianceFunctionPart
from sfumato.plan.sampling import BoughtVariance, StatedVariance, VarianceFunction
from sfumato.privacy import exact
from sfumato.schema import Replication
from sfumato.schema.replication import SUCCESSIVE

CENSUS, LIKE_CENSUS = "census", 0.6
"""What a plan says of data in which all units are, and how alike a misspelt word is."""


def built_replicates(data: DataPart) -> int:
    """How many replicates are built from the order of selection."""
    if not isinstance(data.replicates, int):
        return 80
    if data.order is None:
        raise PlanError("[data] replicates is a number and there is no order to build them from; name their columns.")
    return data.replicates


def weight_clip_of(data: DataPart) -> tuple[Fraction, Fraction] | None:
    """Between which bounds the weight counts in weighted numbers."""
    if data.weight_clip is None:
        return None
    low, high = (exact(bound, "[data] weight_clip") for bound in data.weight_clip)
    return low, high


def replication_of(written: str | MethodPart | None) -> Replication:
    """What replicate weights are of, by the name of a method or with what is its own."""
    if written is None:
        return SUCCESSIVE
    if isinstance(written, str):
        return Replication(written)
    scales = [None if one is None else exact(one, "scale") for one in (written.scale, written.fay)]
    rscales = tuple(exact(one, "rscales") for one in written.rscales)
    return Replication(written.method, scales[0], rscales, written.about, scales[1])


def sampling_of_plan(part: PlanPart) -> str | tuple[StatedVariance, ...]:
    """What the plan says of sampling error."""
    if isinstance(part.sampling, list):
        return tuple(_function(one) for one in part.sampling)
    _refuse_misspelt_census(part.sampling or "")
    return part.sampling or ""


def _refuse_misspelt_census(written: str) -> None:
    """A single word that resembles "census" is no reason why no sampling error is stated."""
    word = written.strip()
    if word != CENSUS and " " not in word and get_close_matches(word.lower(), [CENSUS], cutoff=LIKE_CENSUS):
        raise PlanError(
            f'sampling = "{word}" is no reason, and not "{CENSUS}": write sampling = "{CENSUS}" if all units were '
            "asked, or a sentence that says why no sampling error is stated."
        )


def _function(part: VarianceFunctionPart) -> StatedVariance:
    is_public = part.a is not None or part.b is not None
    if part.squares is not None and part.weights is not None and not is_public:
        return BoughtVariance(part.of, part.squares, part.weights, part.deff, part.certain)
    if part.a is None or part.b is None or part.squares or part.weights:
        raise PlanError(
            f"[[sampling]] of '{part.of}' needs a, b and source (numbers that are public), or squares and weights (the "
            "measures of Σw² and Σw from which b is bought)."
        )
    return VarianceFunction(part.of, part.a, part.b, part.source, part.outside)


def replicate_columns(columns: int | str | list[str]) -> tuple[str, ...]:
    """The columns that a list or a pattern names.

    >>> replicate_columns("repwt{1..3}")
    ('repwt1', 'repwt2', 'repwt3')
    """
    if not isinstance(columns, str):
        return () if isinstance(columns, int) else tuple(columns)
    pattern = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}(.*)", columns)
    if pattern is None:
        raise PlanError(
            f"[data] replicates is '{columns}'; write a list of columns, or a pattern such as repwt{{1..80}}."
        )
    before, first, last, after = pattern.groups()
    if not 0 <= int(last) - int(first) < 10_000:
        raise PlanError(f"[data] replicates is '{columns}', which counts {first} to {last}; for example {{1..80}}.")
    return tuple(f"{before}{number}{after}" for number in range(int(first), int(last) + 1))
