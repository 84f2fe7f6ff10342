"""Losses and neighbours as plain dictionaries, the one form in which plans, ledgers and manifests write them."""

from collections.abc import Mapping
from typing import Any

from sfumato.errors import PlanError, PromiseError, nearest
from sfumato.privacy.exact import exact, plain
from sfumato.privacy.loss import Approximate, Concentrated, Gaussian, Limit, Loss, Unbounded, exact_root
from sfumato.privacy.neighbours import AddRemove, Hidden, ReplaceOne, SquareRootWithin

LIMITS = ("epsilon", "delta", "mu", "rho")
_OWN_KEYS = {AddRemove.kind: set[str](), ReplaceOne.kind: {"fixed"}, SquareRootWithin.kind: {"beta", "firm"}}
"""The keys that only some neighbours have."""


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
    return {"unbounded": loss.why}


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
    for key in written:
        if key not in {*LIMITS, "mu_squared", "unbounded"}:
            raise PlanError(f"[limit] has no key '{key}'; {nearest(key, LIMITS)}")
    loss = loss_from_dict(written)
    if isinstance(loss, Unbounded):
        raise PlanError("A limit cannot be unbounded; give epsilon (and delta), mu or rho.")
    return loss


def hidden_to_dict(hidden: Hidden) -> dict[str, Any]:
    written: dict[str, Any] = {"neighbours": hidden.kind, "unit": hidden.unit}
    if hidden.id is not None:
        written |= {"id": hidden.id, "at_most": hidden.at_most}
    if isinstance(hidden, ReplaceOne) and hidden.fixed:
        written["fixed"] = list(hidden.fixed)
    if isinstance(hidden, SquareRootWithin):
        written["beta"] = {name: plain(beta) for name, beta in hidden.beta}
        written |= {"firm": hidden.firm, "at_most": hidden.at_most} if hidden.firm else {}
    return written


def hidden_from_dict(written: Mapping[str, Any]) -> Hidden:
    """The neighbours that a dictionary means; a wrong key answers with the nearest."""
    for key in written:
        if "neighbours" not in written and nearest(key, ["neighbours"]).startswith("did"):
            raise PlanError(f"[hidden] has no key '{key}'; did you mean 'neighbours'?")
    kind = str(written.get("neighbours", ""))
    if kind not in _OWN_KEYS:
        raise PlanError(f"[hidden] neighbours is '{kind}'; {nearest(kind, _OWN_KEYS)}")
    known = {"neighbours", "unit", "id", "at_most"} | _OWN_KEYS[kind]
    for key in written:
        if key not in known:
            raise PlanError(f"[hidden] has no key '{key}' with {kind} neighbours; {nearest(key, sorted(known))}")
    rest = {key: written[key] for key in ("id", "at_most") if key in written}
    unit = str(written.get("unit", ""))
    if kind == ReplaceOne.kind:
        fixed = written.get("fixed", [])
        if not isinstance(fixed, list) or not all(isinstance(name, str) for name in fixed):
            raise PlanError('[hidden] fixed is a list of attributes, for example fixed = ["sector"].')
        return ReplaceOne(unit, fixed=tuple(fixed), **rest)
    if kind == SquareRootWithin.kind:
        return SquareRootWithin(unit, written.get("beta", {}), firm=written.get("firm"), **rest)
    return AddRemove(unit, **rest)
