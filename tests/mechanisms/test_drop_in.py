"""Adding a mechanism touches one file: dropped into the folder it is found, priced, run, and held to the contract."""

import importlib
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from contract_law import LAW_CHECKS, MOVES
from contract_noise import NOISE_CHECKS, Bench

import sfumato as sf
from sfumato import mechanisms
from sfumato.confidential import Microdata, Options, run
from sfumato.errors import PlanError
from sfumato.plan import Plan
from sfumato.plugins import found

ROUNDED_LAPLACE = '''
"""The rounded Laplace mechanism (SCIENCE 0b): a continuous Laplace rounded to the lattice, a pure epsilon."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1
from typing import ClassVar

import numpy as np

from sfumato.draws import Law, bounds
from sfumato.mechanisms.additive import Additive
from sfumato.privacy import Approximate, positive


@dataclass(frozen=True)
class RoundedLaplaceLaw(Law):
    """P(|K| >= m) = e^(-(m - 1/2) rate)."""

    rate: Fraction

    @property
    def scale(self):
        return float(1 / self.rate)

    @property
    def variance(self):
        a = exp(-self.rate)
        return a**0.5 * (1 + a) / expm1(-self.rate) ** 2

    @property
    def fourth_moment(self):
        a = exp(-self.rate)
        return a**0.5 * (1 + a) * (1 + 10 * a + a * a) / expm1(-self.rate) ** 4

    def pmf(self, k):
        size = np.abs(np.asarray(k, dtype=float))
        return np.where(size > 0, (self.survival(size) - self.survival(size + 1)) / 2, 1 - self.survival(1))

    def survival(self, m):
        size = np.asarray(m, dtype=float)
        return np.where(size > 0, np.exp(-(np.maximum(size, 0.5) - 0.5) * float(self.rate)), 1.0)

    def exact_survival(self, m, bits):
        return bounds.exponential_minus((m - Fraction(1, 2)) * self.rate, bits)


@dataclass(frozen=True)
class RoundedLaplace(Additive):
    """Rounded Laplace noise that costs epsilon."""

    name: ClassVar[str] = "NAME"
    source: ClassVar[str] = "SCIENCE 0b"
    epsilon: Fraction

    def __init__(self, epsilon):
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))

    def loss(self, move):
        return Approximate(self.epsilon)

    def law(self, move):
        return RoundedLaplaceLaw(FACTOR * self.epsilon / move.l1)


EXAMPLE = RoundedLaplace(1)
'''

PLAN = """
name = "dropped"
[attributes.place]
levels = ["north", "south"]
[data]
unit = "job"
[hidden]
neighbours = "add-remove"
unit = "job"
[limit]
epsilon = "1"
[[measure]]
name = "jobs"
of = "count"
by = ["place"]
with = { mechanism = "rounded-laplace", epsilon = "1" }
"""


@pytest.fixture
def drop(tmp_path, monkeypatch):
    """Drop a file into a folder that is searched for mechanisms, and forget it afterwards."""
    folder = tmp_path / "more mechanisms"
    folder.mkdir()
    monkeypatch.setattr(mechanisms, "__path__", [*mechanisms.__path__, str(folder)])
    modules = []

    def dropped(name: str, factor: str = "1") -> None:
        module = name.replace("-", "_") + "_dropped"
        text = ROUNDED_LAPLACE.replace("NAME", name).replace("FACTOR", factor)
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        modules.append(module)

    yield dropped
    for module in modules:
        sys.modules.pop(f"sfumato.mechanisms.{module}", None)
        vars(mechanisms).pop(module, None)


def complaints(mechanism) -> dict[str, list[str]]:
    said = {}
    for move in (MOVES["count add-remove 1"], MOVES["total replace-one 3"]):
        bench = Bench.of(mechanism, move)
        said |= {check: told for check, holds in LAW_CHECKS.items() if (told := holds(mechanism, move))}
        said |= {check: told for check, holds in NOISE_CHECKS.items() if (told := holds(bench))}
    return said


def test_a_dropped_in_mechanism_is_found_priced_run_and_sound(drop, tmp_path):
    with pytest.raises(PlanError, match="no mechanism 'rounded-laplace'"):
        Plan.parse(PLAN, Path("dropped.toml"))
    drop("rounded-laplace")
    plan = Plan.parse(PLAN, Path("dropped.toml"))
    assert plan.price().total == sf.Approximate(1)
    assert Plan.parse(plan.to_toml(), Path("again.toml")) == plan

    jobs = pa.table({"place": ["north"] * 500 + ["south"] * 300})
    run(plan, Microdata.open(jobs, plan.schema), None, tmp_path / "release", Options(rehearsal=3))
    answer = sf.open(tmp_path / "release").total({"place": "north"})
    assert abs(answer.value - 500) < 30
    law = plan.measures[0].with_.law(MOVES["count add-remove 1"])
    assert answer.noise_variance == law.variance
    assert complaints(found(mechanisms)["rounded-laplace"]) == {}


def test_a_dropped_in_mechanism_that_claims_too_little_is_rejected(drop):
    drop("rounded-laplace", factor="2")
    assert list(complaints(found(mechanisms)["rounded-laplace"])) == ["claim holds"]


def test_a_dropped_in_file_cannot_take_the_place_of_a_mechanism(drop):
    drop("geometric")
    with pytest.raises(PlanError, match="are called 'geometric'"):
        found(mechanisms)
