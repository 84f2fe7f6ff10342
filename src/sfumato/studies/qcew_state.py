"""A small state of establishments in arrays, as skewed as the substitute data that the QCEW team published.

25,420 establishments with 375,797 jobs, the largest with 4,050, half of them with 7 or fewer; 486 industries of
five digits, 644 of six, five counties and 1,812 of their crossings, much as in Rhode Island in 2016.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sfumato.mechanisms import Cells
from sfumato.privacy import Root
from sfumato.schema import Attribute, By, Frame, Level, Levels

SIZE, JOBS, LARGEST = 25_420, 375_797, 4_050
SECTORS, INDUSTRIES = 20, 520
COUNTIES = (0.57, 0.16, 0.13, 0.10, 0.04)
BETWEEN, WITHIN = 0.7, 0.95
"""Standard deviations of the logarithm of size between industries and within one."""
LEVELS: dict[str, By] = {
    "state": (),
    "sector": (Level("naics", 0),),
    "NAICS5": (Level("naics", 1),),
    "NAICS6": (Level("naics"),),
    "county x NAICS5": (Level("county"), Level("naics", 1)),
}
"""What errors are looked at for; sectors are the top of the hierarchy, five digits come next, six last."""


@dataclass(frozen=True, eq=False)
class State:
    """A public frame and the jobs of each establishment."""

    frame: Frame
    jobs: NDArray[np.int64]

    def cells(self, by: By | None, beta: Fraction) -> Cells:
        """The jobs of the establishments, or of groups of them."""
        grouping = None if by is None else self.frame.grouped(by)
        return Cells(self.frame if grouping is None else grouping.groups, self.jobs, Fraction(1), Root(beta), grouping)  # fmt: skip  # noqa: E501


@lru_cache(maxsize=4)
def state(seed: int = 2, between: float = BETWEEN, within: float = WITHIN) -> State:
    """The same seed gives the same state."""
    rng = np.random.default_rng(seed)
    children = rng.choice([1, 2, 3], INDUSTRIES, p=[0.7, 0.2, 0.1])
    shares = np.exp(rng.normal(0, 1.55, INDUSTRIES))
    five = rng.choice(INDUSTRIES, SIZE, p=shares / shares.sum())
    first = np.concatenate([[0], np.cumsum(children)[:-1]])
    six = first[five] + (rng.random(SIZE) ** 1.5 * children[five]).astype(np.int64)
    county = rng.choice(len(COUNTIES), SIZE, p=COUNTIES)
    typical, z = rng.normal(0, between, int(children.sum())), rng.normal(0, 1, SIZE)
    jobs = _scaled(np.exp(typical[six] + within * z + 0.1 * np.maximum(z - 1.5, 0) ** 2))
    attributes = (Attribute("naics", _industries(children)), Attribute("county", Levels.of(range(len(COUNTIES)))))
    places = {"naics": six.astype(np.int32), "county": county.astype(np.int32)}
    return State(Frame("establishment", attributes, places, range(SIZE)), jobs)


def _scaled(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole sizes that sum to the jobs of the state as nearly as one factor can bring them there, one the largest."""
    sizes[np.argmax(sizes)] = np.inf
    low, high = 0.1, 100.0
    for _ in range(60):
        factor = (low + high) / 2
        found = np.minimum(np.rint(factor * sizes), LARGEST)
        low, high = (factor, high) if found.sum() < JOBS else (low, factor)
    return found.astype(np.int64)


def _industries(children: NDArray[np.int64]) -> Levels:
    """Sectors, their five-digit industries, and one to three six-digit ones in each."""
    listed: list[dict[str, str]] = [{"code": f"{sector:02}"} for sector in range(SECTORS)]
    codes = [f"{place * SECTORS // INDUSTRIES:02}{place:03}" for place in range(INDUSTRIES)]
    listed += [{"code": code, "parent": code[:2]} for code in codes]
    pairs = zip(codes, children, strict=True)
    listed += [{"code": f"{code}{child}", "parent": code} for code, many in pairs for child in range(many)]
    return Levels.of(listed)
