"""Losses and neighbours as plain dictionaries, the one form in which plans, ledgers and manifests write them."""

import inspect
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from sfumato.errors import PlanError, PromiseError, nearest
from sfumato.plugins import found, made_of
from sfumato.privacy import neighbours
from sfumato.privacy.exact import exact, plain
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded, exact_root
from sfumato.privacy.neighbours import Neighbours

LIMITS = ("epsilon", "delta", "mu", "rho")


def loss_to_dict(loss: Loss) -> dict[str, str]:
    """A loss as text, exact.

    >>> loss_to_dict(Gaussian("0.5"))
    {'mu': '0.5'}
    """
    if isinstance(loss, Approximate):
        return {"epsilon": plain(loss.epsilon)} | ({"delta": plain(loss.delta)} if loss.delta else {})
    if isinstance(loss, Gaussian):
        root = exact_root(loss.mu_squared)
        return {"mu": plain(root)} if root is not None else {"mu_squared": plain(loss.mu_squared)}
    if isinstance(loss, Concentrated):
        return {"rho": plain(loss.rho)}
    if isinstance(loss, Unbounded):
        return {"unbounded": loss.why}
    assert_never(loss)


def loss_from_dict(written: Mapping[str, Any]) -> Loss:
    """The loss that a dictionary means."""
    keys = set(written)
    if keys in ({"epsilon"}, {"epsilon", "delta"}):
        return Approximate(written["epsilon"], written.get("delta", 0))
    if keys == {"mu"}:
        mu = exact(written["mu"], "mu")
        if mu < 0:
            raise PromiseError(f"A loss needs mu >= 0, got mu {plain(mu)}.")
        return Gaussian(squared=mu**2)
    if keys == {"mu_squared"}:
        return Gaussian(squared=exact(written["mu_squared"], "mu_squared"))
    if keys == {"rho"}:
        return Concentrated(written["rho"])
    if keys == {"unbounded"}:
        return Unbounded(str(written["unbounded"]))
    raise PlanError(
        f"A loss is epsilon (with delta if there is one), mu or rho; got {', '.join(sorted(keys)) or 'nothing'}."
    )


def limit_from_dict(written: Mapping[str, Any]) -> Limit:
    """The limit that a dictionary means; without one nothing may be spent."""
    return bounded_limit(plan_limit_from_dict(written))


def plan_limit_from_dict(written: Mapping[str, Any]) -> Loss:
    """The limit of a plan, which may say that it has none, and why."""
    for key in written:
        if key not in {*LIMITS, "mu_squared", "unbounded"}:
            raise PlanError(f"[limit] has no key '{key}'; {nearest(key, (*LIMITS, 'unbounded'))}")
    limit = loss_from_dict(written)
    if isinstance(limit, Unbounded) and not limit.why.strip():
        raise PlanError(
            '[limit] unbounded is the reason for a release without a bound, for example "as printed in 2019".'
        )
    return limit


def bounded_limit(limit: Loss) -> Limit:
    """The limit itself, where there is one."""
    if isinstance(limit, Unbounded):
        raise PlanError("A limit cannot be unbounded here; give epsilon (and delta), mu or rho.")
    return limit


def hidden_to_dict(hidden: Neighbours) -> dict[str, Any]:
    """Neighbours by their own fields, less those that are empty."""
    own = {name: getattr(hidden, name) for name in inspect.signature(type(hidden)).parameters}
    return {"neighbours": hidden.kind} | {
        name: text(value) for name, value in own.items() if value not in (None, (), {})
    }


def hidden_from_dict(written: Mapping[str, Any]) -> Neighbours:
    """The neighbours that a dictionary means; a wrong key answers with the nearest."""
    for key in written:
        if "neighbours" not in written and nearest(key, ["neighbours"]).startswith("did"):
            raise PlanError(f"[hidden] has no key '{key}'; did you mean 'neighbours'?")
    named = {"relation": written.get("neighbours", ""), "unit": ""} | dict(written)
    hidden: Neighbours = made_of(
        {key: value for key, value in named.items() if key != "neighbours"}, "relation", found(neighbours, by="kind")
    )
    return hidden


def plan_hidden_from_dict(written: Mapping[str, Any]) -> Neighbours:
    """The neighbours that a plan means, which leaves to its attributes what these tell."""
    hidden = hidden_from_dict(written)
    for key in sorted(hidden.resolved & set(written)):
        raise PlanError(
            f"[hidden] {key} is not for a plan to say: it follows from the levels of the attributes that [hidden] "
            "names, and is written into ledgers and releases; leave it out."
        )
    return hidden


def text(value: Any) -> Any:
    """A value as TOML and JSON have it, numbers exact."""
    if isinstance(value, Fraction):
        return plain(value)
    if isinstance(value, tuple):
        return [text(one) for one in value]
    if isinstance(value, Mapping):
        return {key: text(one) for key, one in value.items()}
    return value
