"""Claimed: whether a plan has a loss that can be allotted or scaled, and what stands in the way where it has none."""

from sfumato.errors import PlanError
from sfumato.plan.decisions import Decisions
from sfumato.privacy import Limit, Unbounded


def claimed_limit(plan: Decisions, what: str) -> Limit:
    """The limit of a plan that has a bound; PlanError says which measures claim nothing, and what would."""
    limit = plan.limit
    if not isinstance(limit, Unbounded):
        return limit
    unclaimed = [one for one in plan.measures if isinstance(one.with_.loss(plan.move(one)), Unbounded)]
    named = ", ".join(f"'{one.name}' with {one.with_.name}" for one in unclaimed)
    why = f": {named} claim{'s' * (len(unclaimed) == 1)} no loss" if unclaimed else ""
    instead = "; ".join(dict.fromkeys(one.with_.instead for one in unclaimed if one.with_.instead))
    others = [f"'{one.name}'" for one in plan.measures if one not in unclaimed] if unclaimed else []
    apart = f", or put {', '.join(others)} into a plan without the others" if others else ""
    raise PlanError(
        f"{what}, and this plan has no bound ([limit] unbounded){why}. Give [limit] an epsilon, mu or rho and measure "
        f"with what claims one{f' ({instead})' if instead else ''}{apart}. What noise did to numbers without a claim, "
        "`sfumato assess PLAN --data FILE --release DIR` tells of a rehearsal."
    )
