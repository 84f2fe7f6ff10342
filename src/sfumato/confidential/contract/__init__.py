"""Contract: what a mechanism promises of itself, checked at the very parameters and the very move of a measure."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.confidential.contract.curves import no_change_is_dearer
from sfumato.confidential.contract.drawn import DRAWN_CHECKS, FALSE_ALARM
from sfumato.confidential.contract.families import FAMILY_CHECKS, too_many
from sfumato.confidential.contract.law import LAW_CHECKS
from sfumato.confidential.contract.noise import NOISE_CHECKS, Bench
from sfumato.confidential.contract.roots import drawn_rows, no_neighbour_is_further
from sfumato.confidential.contract.rows import row_checks
from sfumato.confidential.contract.scales import drawn_scales, no_scale_is_further
from sfumato.confidential.contract.sizes import drawn_sizes, no_size_is_further
from sfumato.draws import Draws
from sfumato.mechanisms import Additive, Mechanism
from sfumato.mechanisms.smooth import Smooth
from sfumato.privacy import AlongCurve, Bounded, EveryTable, Move, Relative, Root, Unsummed
from sfumato.schema import Aggregate

WIDEST = 2_000.0
"""The widest noise, in steps, whose probabilities are all added up."""

__all__ = ["FALSE_ALARM", "Finding", "contract"]


@dataclass(frozen=True)
class Finding:
    """One check of one mechanism: what it found wrong, or why it was not made."""

    check: str
    wrong: tuple[str, ...] = ()
    not_made: str = ""

    @property
    def verdict(self) -> str:
        return f"not made: {self.not_made}" if self.not_made else "; ".join(self.wrong) or "holds"

    def to_dict(self) -> dict[str, Any]:
        return {"check": self.check, "wrong": list(self.wrong), "not_made": self.not_made}


def contract(
    mechanism: Mechanism,
    move: Move,
    step: Fraction,
    draws: Draws,
    *,
    sparse: bool = False,
    of: tuple[Aggregate, ...] = (),
) -> tuple[Finding, ...]:
    """Every check of a mechanism between neighbours that far apart; what none is written for says so.

    One that is given rows is checked on those of the aggregates that it is `of`.
    """
    if isinstance(mechanism, Additive) and isinstance(move, Bounded):
        bench = Bench.of(mechanism, move, draws, sparse=sparse)
        wide = f"noise of {bench.law.scale:,.0f} steps is too wide to add up" if bench.law.scale > WIDEST else ""
        by_law = [
            Finding(name, not_made=wide) if wide else Finding(name, tuple(check(mechanism, move)))
            for name, check in LAW_CHECKS.items()
        ]
        return (*by_law, *(Finding(name, tuple(check(bench))) for name, check in NOISE_CHECKS.items()))
    if isinstance(move, Root):
        far = Finding("no neighbour is further", tuple(no_neighbour_is_further(mechanism, move, step, draws)))
        drawn = drawn_rows(mechanism, move, step, draws)
        return (far, *(Finding(name, tuple(check(drawn))) for name, check in DRAWN_CHECKS.items()))
    if isinstance(move, Relative) and isinstance(mechanism, Smooth):
        far = Finding("no scale is further", tuple(no_scale_is_further(mechanism, move)))
        checked = drawn_scales(mechanism, move, draws)
        return (far, *(Finding(name, tuple(wrong)) for name, wrong in checked.items()))
    if isinstance(move, Relative | AlongCurve):
        if isinstance(move, Relative):
            far = Finding("no size is further", tuple(no_size_is_further(mechanism, move, step, draws)))
        else:
            far = Finding("no change is dearer", tuple(no_change_is_dearer(mechanism, move, step, draws)))
        drawn = drawn_sizes(mechanism, move, step, draws)
        return (far, *(Finding(name, tuple(check(drawn))) for name, check in DRAWN_CHECKS.items()))
    if isinstance(move, EveryTable):
        skipped = {"integers keep the claim": too_many(mechanism, move, step, draws)}
        return tuple(
            Finding(name, not_made=skipped[name])
            if skipped.get(name)
            else Finding(name, tuple(check(mechanism, move, step, draws)))
            for name, check in FAMILY_CHECKS.items()
        )
    unwritten = f"no check is written for {mechanism.name} here"
    of_rows = row_checks(mechanism, move, step, of, draws) if isinstance(move, Unsummed) and of else {"all": unwritten}
    return tuple(
        Finding(name, not_made=wrong) if isinstance(wrong, str) else Finding(name, tuple(wrong))
        for name, wrong in of_rows.items()
    )
