"""Exact noise beside opendp, beside numpy's difference of two geometrics, and beside the cipher that feeds it.

All in CPU seconds of this process, one thread, the median of several runs on warm tables and compiled loops. opendp is
asked for a whole vector in one call (`make_geometric` and `make_gaussian` on zeros), of fewer numbers, and its time is
scaled. numpy is asked for `rng.geometric(p, n) - rng.geometric(p, n)` and for `rng.normal(0, sigma, n)` rounded to
integers, which have the law to float precision, not exactly. The limit of the cipher is AES-256-CTR over zero bytes
into one buffer. Agreement is a chi-square at one in a million of our numbers against the stated law and, where there is
a sample of theirs, of theirs too.
"""

import os
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from bench.line import Goal, Line

from sfumato.draws import DiscreteNormal, Law, RoundedNormal, SystemDraws, TwoSidedGeometric
from sfumato.kernels.choose import compiled

Work = Callable[[], object]


def lines(*, quick: bool = False) -> Iterator[Line]:
    n = 10**5 if quick else 10**6
    compiled("draws")
    for scale in (1, 10, 100, 10**4, 10**6, 10**9):
        yield against_numpy(scale, n)
    for scale in (1, 10**6):
        yield against_numpy(scale, 10 * n)
    for law in (TwoSidedGeometric(Fraction(1)), DiscreteNormal(Fraction(9))):
        yield against_opendp(law, n)
    for sigma in (1, 30, 1_000, 10_000, 10**6, 10**9):
        yield normal(RoundedNormal(Fraction(sigma) ** 2), n)
    for sigma in (10_000, 10**6, 10**9):
        yield normal(DiscreteNormal(Fraction(sigma) ** 2), n)
    yield sparse(10**8 if quick else 10**9)


def seconds(work: Work, runs: int = 9) -> float:
    """The median CPU seconds of a run, after one that warms up."""
    work()
    spent = []
    for _ in range(runs):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def follows(law: Law, noise: np.ndarray) -> bool:
    """Chi-square of the numbers up to some scales, and all beyond, against the stated probabilities."""
    from scipy.stats import chi2

    tops = np.unique(np.ceil(law.scale * np.linspace(0, 4, 25)).clip(1))
    tails = law.survival(tops) / 2
    expected = np.diff(np.concatenate(([0.0], tails[::-1], 1 - tails, [1.0]))) * len(noise)
    edges = np.concatenate((1 - tops[::-1], tops))
    seen = np.bincount(np.searchsorted(edges, noise, side="right"), minlength=len(expected))
    return bool(chi2.sf(float(np.sum((seen - expected) ** 2 / expected)), len(expected) - 1) > 1e-6)


def against_numpy(scale: int, n: int) -> Line:
    law, draws, rng = TwoSidedGeometric(Fraction(1, scale)), SystemDraws(), np.random.default_rng()
    p = float(-np.expm1(-1 / scale))

    def theirs() -> np.ndarray:
        return rng.geometric(p, n) - rng.geometric(p, n)

    ours, peer = seconds(lambda: law.draw(n, draws)), seconds(theirs, 5)
    agree = follows(law, law.draw(n, draws)) and follows(law, theirs())
    return Line(
        f"exact geometric, scale {scale:,}, {n:,} draws", "M/s", n / ours / 1e6, "numpy geometric difference",
        n / peer / 1e6, cpu=ours, cpu_theirs=peer, agree=agree, goal=Goal(10),
    )  # fmt: skip


def against_opendp(law: Law, n: int) -> Line:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, few, draws = dp.vector_domain(dp.atom_domain(T=dp.i64)), n // 50, SystemDraws()
    made = (
        dp.m.make_geometric(domain, dp.l1_distance(T=dp.i64), scale=law.scale)
        if isinstance(law, TwoSidedGeometric)
        else dp.m.make_gaussian(domain, dp.l2_distance(T=dp.f64), scale=law.scale)
    )
    zeros = [0] * few
    ours, peer = seconds(lambda: law.draw(n, draws)), seconds(lambda: made(zeros), 3) * n / few
    agree = follows(law, law.draw(n, draws)) and follows(law, np.array(made(zeros)))
    return Line(
        f"{type(law).__name__}, scale {law.scale:g}, {n:,} draws", "M/s", n / ours / 1e6, "opendp", n / peer / 1e6,
        cpu=ours, cpu_theirs=peer, agree=agree, goal=Goal(1_000), note=f"opendp drew {few:,}",
    )  # fmt: skip


def normal(law: Law, n: int) -> Line:
    sigma, draws, rng = law.scale, SystemDraws(), np.random.default_rng()
    ours = seconds(lambda: law.draw(n, draws))
    peer = seconds(lambda: np.rint(rng.normal(0, sigma, n)).astype(np.int64), 5)
    return Line(
        f"exact {type(law).__name__}, sigma {sigma:,.0f}, {n:,} draws", "M/s", n / ours / 1e6, "numpy normal, rounded",
        n / peer / 1e6, cpu=ours, cpu_theirs=peer, agree=follows(law, law.draw(n, draws)), goal=Goal(2),
    )  # fmt: skip


def sparse(cells: int) -> Line:
    """Every changed cell of a domain at epsilon 7, beside the cipher's time for a byte a cell."""
    law, draws = TwoSidedGeometric(Fraction(7)), SystemDraws()
    counts: list[int] = []

    def work() -> None:
        counts.append(sum(len(some.places) for some in law.changed(cells, draws)))

    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    ours = seconds(work, 3)
    change = float(law.survival(1))
    usual = all(abs(one - cells * change) < 6 * (cells * change) ** 0.5 for one in counts)
    return Line(
        f"changed cells of {cells:,} at epsilon 7", "s", ours, "AES for a byte a cell", cipher(cells), cpu=ours,
        agree=usual, goal=Goal(15, within=True),
        note=f"{counts[-1]:,} changed; Python and numpy held {held:.1f} MiB at most",
    )  # fmt: skip


def cipher(size: int) -> float:
    """CPU seconds of AES-256-CTR for so many bytes."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
    zeros, buffer = bytes(1 << 17), np.empty(1 << 17, dtype=np.uint8)

    def work() -> None:
        for _ in range(size >> 17):
            stream.update_into(zeros, buffer)

    return seconds(work, 3)
