"""A small world with a known truth, and releases of it that differ only in their noise."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Cells, Mechanism
from sfumato.privacy import Bounded
from sfumato.query import QueryEngine
from sfumato.release import Cube, Manifest, Product, Promise, Release, SpendLine, Subject
from sfumato.release.manifest import ProductLine
from sfumato.schema import Attribute, Levels, Rule, Table


def tree(parents: int, children: int, name: str) -> Levels:
    """Levels of two depths: a0 with a0-0, a0-1, and so on."""
    listed = []
    for parent in range(parents):
        code = f"{name}{parent}"
        listed.append({"code": code, "label": f"{name.title()} {parent}"})
        listed += [{"code": f"{code}-{child}", "parent": code} for child in range(children)]
    return Levels.of(listed)


TABLE = Table(
    (
        Attribute("trade", tree(4, 5, "trade"), label="Trade"),
        Attribute("place", tree(3, 4, "place"), label="Place"),
        Attribute("age", Levels.of(["young", "middle", "old", "retired"]), label="Age"),
        Attribute("sex", Levels.of(["f", "m", "x"]), label="Sex"),
    ),
    (Rule.of({"trade": ["trade0"], "age": ["retired"]}),),
)
COUNTS, PAY = Bounded(1, 1, 1), Bounded(1, 20, 400)


def manifest_of(*products: Product, sampling: dict[str, object] | None = None) -> Manifest:
    promise = Promise(
        hidden={},
        words="",
        loss={"epsilon": "1"},
        limit={"epsilon": "1"},
        loss_words="epsilon 1",
        power_at_5_percent=0,
        right_guess_from_even_odds=0,
    )
    lines = [_line(product) for product in products]
    plain = {"name": "world", "title": "World", "period": "2026", "unit": "job", "created": "2026-01-01"}
    flags = {"software": "test", "mode": "sound", "rehearsal": True, "releasable": False, "why": "a test"}
    spends = [SpendLine(measure=one.name, mechanism="", loss={"epsilon": "1"}, words="epsilon 1") for one in lines]
    empty = {"spends": spends, "exposures": [], "ledger": None, "attributes": [], "files": {}}
    said = {"sampling": sampling or {"kind": "census"}, "grades": {"A": 0.15, "B": 0.30}}
    return Manifest(promise=promise, products=lines, **plain, **flags, **empty, **said)


def _line(product: Product) -> ProductLine:
    subject = product.subject
    return ProductLine(
        name=subject.name,
        statistic=subject.statistic,
        title=subject.title,
        unit=subject.unit,
        step=str(subject.step),
        additive=subject.additive,
        by=[attribute.name for attribute in product.attributes],
        mechanism="",
        uncertainty={},
        file="",
    )


def engine_of(*products: Product, manifest: Manifest | None = None) -> QueryEngine:
    return QueryEngine(
        Release(manifest or manifest_of(*products), "0" * 64, {one.subject.name: one for one in products})
    )


def subject_of(name: str, statistic: str = "count", step: int = 1, **rest: object) -> Subject:
    return Subject(name, statistic, f"Number of {name}", name, Fraction(step), **rest)


@dataclass(frozen=True, eq=False)
class World:
    """True jobs and pay of every cell, many of them empty, and the mechanism that hides them."""

    mechanism: Mechanism
    jobs: np.ndarray
    pay: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism, seed: int = 1) -> "World":
        rng = np.random.default_rng(seed)
        jobs = rng.poisson(rng.gamma(0.4, 60, TABLE.shape)) * TABLE.possible
        return cls(mechanism, jobs, rng.binomial(20 * jobs, 0.4))

    def cube(self, name: str, draws: SeededDraws) -> Cube:
        """One release of jobs or pay."""
        values, move, step = (self.jobs, COUNTS, 1) if name == "jobs" else (self.pay, PAY, 10)
        noisy = self.mechanism.perturb(Cells(TABLE, values, Fraction(step), move), draws)
        subject = subject_of(name, "count" if name == "jobs" else "total", step)
        return Cube(subject, TABLE, noisy.values, self.mechanism.uncertainty(noisy))

    def truth(self) -> QueryEngine:
        """An engine that answers with the true numbers."""
        from sfumato.release import Independent

        jobs = Cube(subject_of("jobs"), TABLE, self.jobs, Independent(0.0))
        pay = Cube(subject_of("pay", "total", 10), TABLE, self.pay, Independent(0.0))
        return engine_of(jobs, pay)
