"""Tables: what every lead settles is right, what it leaves open is settled right, and both kernels read alike."""

import subprocess
import sys
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from sfumato.draws import (
    DiscreteNormal,
    Draws,
    RoundedNormal,
    SeededDraws,
    TruncatedGeometric,
    TwoSidedGeometric,
    tables,
)
from sfumato.draws.geometric import Digit, Highest
from sfumato.draws.tables import MANY, Table
from sfumato.kernels import draws as plain
from sfumato.kernels.draws import UNSETTLED

F = Fraction
BITS = 160
BY_BYTES = [
    TwoSidedGeometric(F(1)),
    TwoSidedGeometric(F(7)),
    RoundedNormal(F(1, 2)),
    DiscreteNormal(F(2)),
    TruncatedGeometric(F(2), 7),
]
BY_PAIRS = [
    TwoSidedGeometric(F(1, 20)),
    RoundedNormal(F(900)),
    DiscreteNormal(F(99, 7)),
    TruncatedGeometric(F(1, 30), 90),
]
DIGITS = [Digit(F(1, 1000), 4), Digit(F(1, 2**45), 10), Highest(F(1, 1000), 4), Highest(F(3, 2**45), 38)]
WIDE = [RoundedNormal(F(4000**2)), DiscreteNormal(F(3000**2))]
BY_DIGITS = [TwoSidedGeometric(F(1, 700)), TwoSidedGeometric(F(7, 10**6)), TwoSidedGeometric(F(1, 2**45))]
CASES = (
    [(law, 8, True) for law in BY_BYTES] + [(law, 16, True) for law in BY_PAIRS] + [(law, 16, False) for law in DIGITS]
)
ALL_TABLES = pytest.mark.parametrize(("law", "bits", "two_sided"), CASES, ids=repr)


class Scripted(Draws):
    """A stream that gives the words it was told to, and no more."""

    rehearsal = True

    def __init__(self, *words):
        self.left = list(words)

    def words(self, n):
        given, self.left = self.left[:n], self.left[n:]
        assert len(given) == n, "the sampler asked for more words than it should need"
        return np.array(given, dtype=np.uint64)


@cache
def bounds(law, m):
    return law.exact_survival(m, BITS)


def settled_cells(table):
    """Each cell and the count it settles; both signs of it have to say the same."""
    rows = table.numbers.reshape(-1, 1 + table.sign_bits).tolist()
    for cell, row in enumerate(rows):
        if UNSETTLED in row:
            assert set(row) == {UNSETTLED}
        else:
            assert row == [row[0], -row[0]][: len(row)]
            yield cell, row[0]


@ALL_TABLES
def test_every_settled_lead_is_right_for_every_number_that_begins_so(law, bits, two_sided):
    # U in [c, c + 1) / 2^b has count k exactly when S(k + 1) <= c / 2^b and (c + 1) / 2^b <= S(k).
    table = Table.of(law, bits, two_sided=two_sided)
    unit = 1 << (BITS - table.cell_bits)
    for cell, count in settled_cells(table):
        assert cell * unit >= bounds(law, count + 1)[1]
        assert count == 0 or (cell + 1) * unit <= bounds(law, count)[0]


@ALL_TABLES
def test_a_lead_is_left_open_only_by_a_threshold_or_by_the_tail(law, bits, two_sided):
    table = Table.of(law, bits, two_sided=two_sided)
    unit = 1 << (BITS - table.cell_bits)
    settled = dict(settled_cells(table))
    opened = set(range(1 << table.cell_bits)) - set(settled)
    m, held = 1, {0}
    while bounds(law, m)[1] > unit:
        held |= {bounds(law, m)[0] // unit, (bounds(law, m)[1] + unit // 2**20) // unit}
        m += 1
    assert opened <= held
    assert table.open <= (1 / 16 if bits == 8 else 1 / 2)


def test_a_table_of_a_law_a_hundredth_wider_is_noticed():
    # The control of the exhaustive test.
    right, wrong = TwoSidedGeometric(F(1)), Table.of(TwoSidedGeometric(F(99, 100)), 16, two_sided=True)
    unit = 1 << (BITS - wrong.cell_bits)
    assert any(count and (cell + 1) * unit > bounds(right, count)[1] for cell, count in settled_cells(wrong))


@pytest.mark.parametrize("law", [*BY_BYTES, *BY_PAIRS, *DIGITS, WIDE[0]], ids=repr)
def test_every_edge_encloses_its_threshold(law):
    edges = tables.thresholds(law).reshape(-1, 2)[::-1].tolist()
    step = max(1, len(edges) // 150)
    for m in {*range(1, len(edges), step), 1, 2, len(edges)}:
        low, high = edges[m - 1]
        least, most = law.exact_survival(m, BITS)
        assert low << (BITS - 63) <= least
        assert most < high << (BITS - 63) or (most, high) == (0, 1)


@pytest.mark.parametrize("law", DIGITS, ids=repr)
def test_floats_and_bounds_of_digits_are_near_the_truth(law):
    for m in (1, 2, 3, 7, 8, 15, 16, 17, 200, 1023, 1024, 5000):
        low, high = law.exact_survival(m, 200)
        with mpmath.workdps(90):
            rate = mpmath.mpf(law.rate.numerator) / law.rate.denominator
            if isinstance(law, Digit):
                base = mpmath.exp(-rate * 2**law.bits)
                true = max(0, (mpmath.exp(-rate * m) - base) / (1 - base))
            else:
                a, b = mpmath.exp(-rate), mpmath.exp(-rate * 2**law.low_bits)
                true = b ** (m // 2) * ((a + b) / (1 + a) if m % 2 else 1)
            assert low <= true * mpmath.mpf(2) ** 200 <= high
            assert abs(float(law.survival(m)) - true) <= true * mpmath.mpf(2) ** -42
        assert high - low <= 2


@pytest.mark.parametrize(("rate", "low_bits", "widths"), [(F(1, 1000), 4, [4]), (F(7, 10**6), 10, [6, 4])], ids=repr)
def test_independent_digits_have_the_law_together(rate, low_bits, widths):
    # P(K = k) is the product of what its parts have, here for every bit of k to 45 digits.
    highest = Highest(rate, low_bits)
    for k in (0, 1, 15, 16, 17, 1023, 1024, 54321, -1, -2, -16, -17, -1024, -1025, -54321):
        g = k if k >= 0 else -1 - k
        parts, place = [(highest, 2 * (g >> low_bits) + (k < 0))], 0
        for width in widths:
            parts.append((Digit(rate * 2**place, width), g >> place & 2**width - 1))
            place += width
        product = F(1)
        for part, digit in parts:
            above = part.exact_survival(digit, 300)[0] if digit else 2**300
            product *= F(above - part.exact_survival(digit + 1, 300)[0], 2**300)
        with mpmath.workdps(60):
            r = mpmath.mpf(rate.numerator) / rate.denominator
            true = mpmath.tanh(r / 2) * mpmath.exp(-r * abs(k))
            assert abs(mpmath.mpf(product.numerator) / product.denominator / true - 1) < mpmath.mpf(10) ** -45


def binary_digits(value, bits):
    """floor(2^bits value)."""
    with mpmath.workdps(150):
        return int(mpmath.floor(value * mpmath.mpf(2) ** bits))


def spelled(table, digits, further_words, sign=0):
    """The words by which the first of a handful of leads gets these binary digits, the other leads being settled."""
    prefix = digits >> 64 * further_words
    rest = 63 - table.cell_bits
    lead = (prefix >> rest) << table.sign_bits | sign
    quiet = next(i for i, number in enumerate(table.numbers.tolist()) if number != UNSETTLED)
    bits = table.cell_bits + table.sign_bits
    leads = lead | sum(quiet << bits * i for i in range(1, 64 // bits))
    return [
        leads,
        (prefix & 2**rest - 1) << 64 - rest,
        *(digits >> 64 * i & 2**64 - 1 for i in reversed(range(further_words))),
    ]


def first_of(table, *script):
    noise = np.empty(64 // (table.cell_bits + table.sign_bits), dtype=np.int64)
    stream = Scripted(*script)
    table.fill(noise, stream)
    return int(noise[0])


@pytest.mark.parametrize("law", [*BY_BYTES[:4], *BY_PAIRS[:3]], ids=repr)
@pytest.mark.parametrize("further_words", [0, 1, 2])
def test_open_leads_fall_on_the_right_side_of_the_nearest_threshold(law, further_words, oracle):
    table = tables.table_of(law, two_sided=True)
    for m in (1, 2, 3):
        at = binary_digits(oracle(law, m), 63 + 64 * further_words)
        if table.numbers[(at >> (63 + 64 * further_words - table.cell_bits)) << 1] != UNSETTLED:
            continue
        ones, zeros = [2**64 - 1] * 3, [0] * 3
        assert first_of(table, *spelled(table, at - 1, further_words), *ones) >= m
        assert first_of(table, *spelled(table, at + 1, further_words), *zeros) < m
        assert first_of(table, *spelled(table, at - 1, further_words, sign=1), *ones) <= -m


@pytest.mark.parametrize("law", [*BY_BYTES[:4], *BY_PAIRS[:3]], ids=repr)
def test_tails_past_the_table_are_right(law, oracle):
    table = tables.table_of(law, two_sided=True)
    for prefix in (1, 1000, 2**20, 2**27 + 12345):
        found = first_of(table, *spelled(table, prefix, 0), 2**63, 0, 0)
        with mpmath.workdps(60):
            u = (mpmath.mpf(prefix) + mpmath.mpf(1) / 2) / 2**63
            assert found == 0 or u < oracle(law, found)
            assert u >= oracle(law, found + 1)


@pytest.mark.parametrize(
    "law", [TwoSidedGeometric(F(1)), TwoSidedGeometric(F(1, 20)), DiscreteNormal(F(99, 7))], ids=repr
)
def test_numbers_are_read_from_the_stream_as_stated(law, oracle):
    """The stream read again, by hand and with mpmath: leads first, then a word for each lead that is open."""
    table = tables.table_of(law, two_sided=True)
    bits = table.cell_bits + 1
    noise, stream = law.draw(MANY, SeededDraws(11)), SeededDraws(11)
    leads = np.frombuffer(stream.words(MANY * bits // 64).astype("<u8").tobytes(), dtype=f"<u{bits // 8}").tolist()
    opened = [i for i, lead in enumerate(leads) if table.numbers[lead] == UNSETTLED]
    further = dict(zip(opened, stream.words(len(opened)).tolist(), strict=True))
    for i in [*range(150), *opened[:150]]:
        u = mpmath.mpf((leads[i] >> 1) << 64 | further.get(i, 2**63)) / mpmath.mpf(2) ** (table.cell_bits + 64)
        size = abs(int(noise[i]))
        assert noise[i] == size * (-1) ** (leads[i] & 1)
        assert size == 0 or u < oracle(law, size)
        assert u >= oracle(law, size + 1)


@pytest.mark.parametrize("law", [*BY_BYTES[:2], *BY_PAIRS[:2], *WIDE, *BY_DIGITS], ids=repr)
def test_both_kernels_read_the_same_numbers_and_leave_the_stream_at_the_same_word(law, monkeypatch):
    pytest.importorskip("numba")
    compiled_stream, plain_stream = SeededDraws(12), SeededDraws(12)
    assert tables.loops().__name__ == "sfumato.kernels.draws_compiled"
    compiled = law.draw(150_000, compiled_stream)
    for module in (tables, sys.modules[TwoSidedGeometric.__module__]):
        monkeypatch.setattr(module, "loops", lambda: plain)
    assert np.array_equal(compiled, law.draw(150_000, plain_stream))
    assert compiled_stream.bits(64) == plain_stream.bits(64)


@pytest.mark.parametrize("law", [BY_BYTES[0], BY_PAIRS[0]], ids=repr)
def test_one_word_of_the_stream_reaches_only_its_own_numbers(law):
    # No bit is read twice: a lead word says something about 8 numbers or 4, any later word about one.
    table, count = tables.table_of(law, two_sided=True), 4096
    bits = table.cell_bits + 1
    script = SeededDraws(13).words(count).tolist()

    def drawn(words):
        noise = np.empty(count, dtype=np.int64)
        stream = Scripted(*words)
        table.fill(noise, stream)
        return noise, count - len(stream.left)

    usual, read = drawn(script)
    lead_words = count * bits // 64
    assert lead_words < read < count
    for word in range(lead_words, min(read, lead_words + 100)):
        turned = drawn([*script[:word], script[word] ^ (2**64 - 1), *script[word + 1 :]])[0]
        assert np.count_nonzero(turned != usual) <= 1


WITHOUT_NUMBA = """
import sys
import zlib
sys.modules["numba"] = None
from fractions import Fraction
from sfumato.draws import SeededDraws, TwoSidedGeometric, tables
noise = TwoSidedGeometric(Fraction(1)).draw(100_000, SeededDraws(14))
print(tables.loops().__name__, zlib.crc32(noise.tobytes()))
"""
SMALL_TABLE = """
import sys
from fractions import Fraction
from sfumato.draws import SeededDraws, TwoSidedGeometric
TwoSidedGeometric(Fraction(1)).draw(1000, SeededDraws(14))
print("numba" in sys.modules)
"""


def said(program):
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_without_numba_the_same_noise_is_drawn():
    loops, fingerprint = said(WITHOUT_NUMBA)
    assert loops == "sfumato.kernels.draws"
    assert [fingerprint] == said(
        WITHOUT_NUMBA.replace('sys.modules["numba"] = None', "import numba").replace("tables.loops().__name__, ", "")
    )


def test_few_draws_do_not_load_numba():
    assert said(SMALL_TABLE) == ["False"]
