"""Rules of suppression: which cells tell too much of one contributor, as a plan or a file inside has them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sfumato.errors import PlanError, nearest
from sfumato.plan.parts import RulesPart, WrittenNumber
from sfumato.privacy import exact, plain

COSTS = ("value", "log", "count")
"""What a missing cell costs: its value, the logarithm of it, or one whatever it holds."""
WRITTEN = {
    "minimum": "minimum = 3", "p": 'p = "0.1"', "dominance": 'dominance = [{ n = 1, k = "0.8" }]',
    "margin": 'margin = "0.1"', "safe": 'safe = { trade = "unknown" }', "waived": 'waived = ["F007"]',
    "forced": 'forced = [{ trade = "2", area = "n" }]', "cost": 'cost = "value"',
    "contributors": "contributors = false",
}  # fmt: skip
"""How each rule is written."""
MOST_LARGEST = 20
"""The deepest dominance rule: how many of a cell's largest contributions may be looked at."""


@dataclass(frozen=True)
class SuppressionRules:
    """Fewer holdings than `minimum`, the p% rule, and dominance of the n largest above a share k of a cell.

    A cell of few holdings must stay uncertain by a share `margin` of it. Codes in `safe` stand for no answer; cells in
    `forced` are published whatever they tell, and so are those of holdings that are `waived`. Cells are protected from
    `contributors` too, who know what they have themselves, unless that takes too long.
    """

    minimum: int = 3
    p: Fraction | None = None
    dominance: tuple[tuple[int, Fraction], ...] = ()
    margin: Fraction = Fraction(1, 10)
    safe: tuple[tuple[str, str], ...] = ()
    waived: tuple[str, ...] = ()
    forced: tuple[tuple[tuple[str, str], ...], ...] = ()
    cost: str = "value"
    contributors: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.minimum, bool) or not isinstance(self.minimum, int) or self.minimum < 1:
            raise PlanError(f"[suppress] minimum is {self.minimum!r}; it is a number of contributors, as a rule 3.")
        shares = {"p": self.p, "margin": self.margin, **{f"k of n = {n}": k for n, k in self.dominance}}
        for name, share in shares.items():
            if share is not None and not 0 < share < 1:
                raise PlanError(f"[suppress] {name} is {plain(share)}; it is a share between 0 and 1, for example 0.1.")
        if any(not 1 <= n <= MOST_LARGEST for n, _ in self.dominance):
            raise PlanError(f"[suppress] dominance is of 1 to {MOST_LARGEST} of the largest contributors of a cell.")
        if self.cost not in COSTS:
            raise PlanError(f"[suppress] cost is '{self.cost}'; {nearest(self.cost, COSTS)}")

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "SuppressionRules":
        """Rules as TOML has them: p = "0.1", dominance = [{ n = 1, k = "0.8" }], safe = { size = "unknown" }."""
        given: dict[str, Any] = dict(written)
        for name in ("p", "margin"):
            if name in given:
                given[name] = exact(given[name], f"[suppress] {name}")
        if "dominance" in given:
            given["dominance"] = tuple(_dominance(one) for one in given["dominance"])
        given["safe"] = tuple(given.get("safe", {}).items())
        given["waived"] = tuple(map(str, given.get("waived", ())))
        given["forced"] = tuple(
            tuple((name, str(code)) for name, code in one.items()) for one in given.get("forced", ())
        )
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """The rules as TOML has them, less those that nobody gave."""
        said: dict[str, Any] = {"minimum": self.minimum}
        said |= {} if self.p is None else {"p": plain(self.p)}
        said |= {"dominance": [{"n": n, "k": plain(k)} for n, k in self.dominance]} if self.dominance else {}
        said |= {} if self.margin == Fraction(1, 10) else {"margin": plain(self.margin)}
        said |= {"safe": dict(self.safe)} if self.safe else {}
        said |= {"waived": list(self.waived)} if self.waived else {}
        said |= {"forced": [dict(one) for one in self.forced]} if self.forced else {}
        said |= {} if self.cost == "value" else {"cost": self.cost}
        return said | ({} if self.contributors else {"contributors": False})

    @property
    def any(self) -> bool:
        """Whether a cell that somebody is in could break one."""
        return self.minimum > 1 or self.p is not None or bool(self.dominance)

    def weaker_than(self, other: "SuppressionRules") -> list[str]:
        """The rules in which it asks for less than another."""
        shares = dict(self.dominance)
        looser = any(n not in shares or shares[n] > k for n, k in other.dominance)
        found = {
            "minimum": self.minimum < other.minimum,
            "p": (self.p or 0) < (other.p or 0),
            "dominance": looser,
            "margin": self.margin < other.margin,
            "safe": not set(self.safe) <= set(other.safe),
            "waived": not set(self.waived) <= set(other.waived),
            "contributors": other.contributors and not self.contributors,
        }
        return [name for name, weaker in found.items() if weaker]

    def words(self) -> str:
        """Rules as readers are told them."""
        said = [f"fewer than {self.minimum} contributors"] if self.minimum > 1 else []
        said += [] if self.p is None else [f"the {plain(100 * self.p)}% rule"]
        said += [f"the {n} largest above {plain(100 * k)}%" for n, k in self.dominance]
        return ", ".join(said)


RULES = tuple(RulesPart.model_fields)


def _dominance(written: Any) -> tuple[int, Fraction]:
    if not isinstance(written, Mapping) or {*written} != {"n", "k"} or not isinstance(written["n"], int):
        raise PlanError('[suppress] dominance is a list of rules, for example [{ n = 1, k = "0.8" }].')
    return written["n"], exact(written["k"], "[suppress] k")


def read_inside(path: Path) -> dict[str, Any]:
    """What a file of rules that stay inside says."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=WrittenNumber)
        return RulesPart.model_validate(written).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise PlanError(f"{path} {_wrong(error)}") from None
    except (OSError, ValueError, ArithmeticError, RecursionError):
        raise PlanError(
            f"[suppress] inside: {path} cannot be read as TOML in UTF-8; write rules as a plan has them."
        ) from None


def _wrong(error: ValidationError) -> str:
    """The first thing wrong, and how it is written."""
    wrong = error.errors()[0]
    key = str(wrong["loc"][0])
    if key not in RULES:
        return f"has no key '{key}'; {nearest(key, RULES)}"
    return f"has {key} written as it is not read: {wrong['msg']}. Write {WRITTEN[key]}."
