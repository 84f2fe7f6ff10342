"""Strips: every lead with every height gives each number its exact share, and both kernels read alike."""

import subprocess
import sys
from fractions import Fraction

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
    leads,
    strips,
)
from sfumato.draws.strips import MANY, TAIL_BITS, strips_of
from sfumato.kernels import draws as plain
from sfumato.kernels.draws import UNSETTLED

F = Fraction
NARROW = [
    TwoSidedGeometric(F(1)),
    TwoSidedGeometric(F(7)),
    RoundedNormal(F(1, 2)),
    DiscreteNormal(F(1, 40)),
    DiscreteNormal(F(2500)),
    TruncatedGeometric(F(2), 7),
]
WIDE = [
    TwoSidedGeometric(F(3, 1000)),
    TwoSidedGeometric(F(1, 2**45)),
    RoundedNormal(F(10**12)),
    DiscreteNormal(F(10**8, 7)),
    DiscreteNormal(F(2**90)),
    TruncatedGeometric(F(1, 2**40), 2**16),
]
ALL = pytest.mark.parametrize("law", NARROW + WIDE, ids=repr)
FIRST_OF_EIGHTHS = [eighth << 61 for eighth in range(8)]
LAST_OF_EIGHTHS = [(eighth + 1 << 61) - 2 for eighth in range(8)]  # even, for the lowest bit is a sign in the tail


class Scripted(Draws):
    """A stream that gives the words it was told to, and no more."""

    rehearsal = True

    def __init__(self, *words):
        self.left = list(words)

    def fill(self, words):
        given, self.left = self.left[: len(words)], self.left[len(words) :]
        assert len(given) == len(words), "more words were read than should be needed"
        words[:] = given


class EveryLead(Draws):
    """A stream that spells every lead once, each with the same position, then one word for all heights, then halves."""

    rehearsal = True

    def __init__(self, table, position, word):
        count, size = 1 << table.lead_bits, -(-(table.lead_bits + table.bits) // 8)
        pieces = np.arange(count, dtype=np.uint64) | np.uint64(position << table.lead_bits)
        stream = pieces.astype("<u8").view(np.uint8).reshape(count, 8)[:, :size].tobytes()
        self.left = [np.frombuffer(stream, dtype="<u8"), word]

    def fill(self, words):
        words[:] = self.left.pop(0) if self.left else 2**63


def probability(oracle, law, k):
    """P(K = k), with none of the code under test."""
    if isinstance(law, TruncatedGeometric):
        a = mpmath.exp(-mpmath.mpf(law.rate.numerator) / law.rate.denominator)
        return a ** abs(k) * (1 - a) / (1 + a - 2 * a ** (law.cap + 1)) if abs(k) <= law.cap else mpmath.mpf(0)
    return (oracle(law, abs(k)) - oracle(law, abs(k) + 1)) / 2 if k else 1 - oracle(law, 1)


def taken_of_every_lead(table, position, word):
    """The numbers that are taken when every lead comes once with this position and this height."""
    noise = np.empty(1 << table.lead_bits, dtype=np.int64)
    refused = table._try(noise, EveryLead(table, position, word))
    return np.delete(noise, refused)


def taken_at(table, position, words):
    return [taken_of_every_lead(table, position, word) for word in words]


def strips_under(drawn):
    """How many strips each number was taken from, an eighth of one for each height."""
    numbers, counts = np.unique(np.concatenate(drawn), return_counts=True)
    return dict(zip(numbers.tolist(), (counts / 8).tolist(), strict=True))


def some_numbers(table, position):
    """The nearest, some middle and the furthest numbers with this position in their block, on both sides."""
    blocks = table.end >> table.bits
    chosen = {0, 1, 2, blocks // 3, blocks // 2, blocks - 2, blocks - 1} & set(range(blocks))
    return sorted((block << table.bits) | position for one in chosen for block in (one, -1 - one))


def wrong_shares(table, law, oracle):
    """How many of some numbers have a share of all strips that cannot be theirs."""
    wrong, share = 0, mpmath.mpf(table.thinned.share.numerator) / table.thinned.share.denominator
    for position in {0, (1 << table.bits) // 3, (1 << table.bits) - 1}:
        low, high = (strips_under(taken_at(table, position, words)) for words in (LAST_OF_EIGHTHS, FIRST_OF_EIGHTHS))
        for k in some_numbers(table, position):
            true = share * 2 ** (table.lead_bits + table.bits) * probability(oracle, law, k)
            wrong += not low.get(k, 0) <= true <= high.get(k, 0) + mpmath.mpf(2) ** -60
            assert high.get(k, 0) - low.get(k, 0) <= 1 / 8
    return wrong


@ALL
def test_every_number_has_exactly_its_share_of_all_leads_and_heights(law, oracle):
    """The whole tree of decisions, all 2^16 or 2^17 leads and V to three bits: t P(k) lies between what it must give.

    A point with a smaller V is taken if one with a larger V is, so the ends of an eighth bound all that lies in it.
    """
    with mpmath.workdps(60):
        assert wrong_shares(strips_of(law), law, oracle) == 0


def test_a_law_a_thousandth_wider_is_noticed(oracle):
    # The control of the enumeration above: the number 0 alone has hundreds of strips.
    with mpmath.workdps(60):
        for law, other in [
            (TwoSidedGeometric(F(1)), TwoSidedGeometric(F(1001, 1000))),
            (RoundedNormal(F(10**12)), RoundedNormal(F(10**12) * F(1001, 1000))),
        ]:
            assert wrong_shares(strips_of(law), other, oracle) > 2


def tail(oracle, law, m):
    if isinstance(law, TruncatedGeometric):
        return 2 * mpmath.fsum(probability(oracle, law, k) for k in range(m, law.cap + 1))
    return oracle(law, m)


@ALL
def test_the_tail_has_exactly_its_share_too(law, oracle):
    # The sign of an even word is plus, and the number is then m or more if U < t S(m), for each m past the end.
    table = strips_of(law)
    drawn = [taken_at(table, 0, words) for words in (LAST_OF_EIGHTHS, FIRST_OF_EIGHTHS)]
    for m in {table.end, table.end + 1, table.end + int(law.scale) + 1, table.end + int(3 * law.scale)}:
        low, high = (sum(np.count_nonzero(some >= m) for some in side) / 8 for side in drawn)
        with mpmath.workdps(60):
            share = mpmath.mpf(table.thinned.share.numerator) / table.thinned.share.denominator
            assert low <= share * 2**table.lead_bits * tail(oracle, law, m) <= high + mpmath.mpf(2) ** -60
        assert high - low <= 1 / 8


@ALL
def test_a_fair_sign_decides_on_which_side_of_the_tail_a_number_lies(law):
    table = strips_of(law)
    plus, minus = (taken_of_every_lead(table, 0, FIRST_OF_EIGHTHS[1] + sign) for sign in (0, 1))
    assert np.array_equal(plus[plus > table.end], -minus[minus < -table.end])
    # end is a number of the tail, and -end one of the blocks', which no tail adds to.
    assert np.count_nonzero(minus == -table.end) == np.count_nonzero(plus == -table.end)


@ALL
def test_leads_are_those_of_the_strips_in_their_order(law):
    table = strips_of(law)
    settled, block, height = table.leads
    opened = np.count_nonzero(settled == UNSETTLED)
    assert np.all(settled[-opened:] == UNSETTLED)
    assert len(block) == len(height) == opened
    assert np.count_nonzero(height == -1) == np.count_nonzero(height[-(1 << table.lead_bits - TAIL_BITS) :] == -1)
    assert opened < 2 ** (table.lead_bits - 4)
    for one in {-(table.end >> table.bits), -1, 0, (table.end >> table.bits) - 1}:
        below = np.count_nonzero(settled == one)
        above = height[(block == one) & (height >= 0) & (height < 1 << table.lead_bits)]
        assert above.tolist() == list(range(below, below + len(above)))


def open_lead(table, number, height):
    """The lead that says this strip of the block of the number."""
    block = number >> table.bits
    found = np.flatnonzero((table.leads.block == block) & (table.leads.height == height))
    return len(table.leads.settled) - len(table.leads.block) + int(found[0])


def is_taken(table, number, height, *words):
    """Whether the point in this strip is taken at the height V that these words spell."""
    position = number & (1 << table.bits) - 1
    piece = position << table.lead_bits | open_lead(table, number, height)
    noise = np.empty(1, dtype=np.int64)
    refused = table._try(noise, Scripted(piece, *words))
    assert noise[0] == number
    return len(refused) == 0


@pytest.mark.parametrize("further_words", [0, 1, 2])
@ALL
def test_heights_next_to_the_law_fall_on_the_right_side(law, further_words, oracle):
    # V one digit of 64, 128 or 192 bits below the law is taken whatever follows; one digit above it is not.
    table = strips_of(law)
    share, tried = table.thinned.share, 0
    for k in {0, (table.end // 2) | 1, -table.end // 3, -1}:
        with mpmath.workdps(150):
            top = (
                probability(oracle, law, k) * 2 ** (table.lead_bits + table.bits) * share.numerator / share.denominator
            )
            height, bits = int(mpmath.floor(top)), 64 * (further_words + 1)
            at = int(mpmath.floor((top - height) * mpmath.mpf(2) ** bits))
        if not 2 <= at < 2**bits - 2 or not np.any(
            (table.leads.block == k >> table.bits) & (table.leads.height == height)
        ):
            continue
        for step, rest, side in ((-1, 2**64 - 1, True), (1, 0, False)):
            words = [at + step >> 64 * i & 2**64 - 1 for i in reversed(range(further_words + 1))]
            assert is_taken(table, k, height, *words, *[rest] * 3) is side
            tried += 1
    assert tried


NEARLY_ALWAYS_ZERO = [
    TwoSidedGeometric(F(800)),
    RoundedNormal(F(1, 8000)),
    DiscreteNormal(F(1, 2000)),
    TruncatedGeometric(F(800), 3),
]


@pytest.mark.parametrize("law", NEARLY_ALWAYS_ZERO, ids=repr)
def test_a_number_too_rare_for_floats_has_a_strip_too(law):
    # P(-1) is about e^-1000 or e^-800, which a float takes for 0; a V of 0 is below it, one of 2^-44 is not.
    table = strips_of(law)
    assert law.pmf(-1) == 0
    assert table.end == 1
    assert is_taken(table, -1, 0, *[0] * 30) is True
    assert is_taken(table, -1, 0, 2**20, *[0] * 30) is False


def test_floats_alone_could_not_tell():
    # The control of the test above: the heights it tries are one and the same float.
    table = strips_of(RoundedNormal(F(10**12)))
    top = float(table.thinned.share * 2 ** (table.lead_bits + table.bits)) * float(table.thinned.law.pmf(0))
    assert top - 2.0**-64 == top + 2.0**-64


@pytest.mark.parametrize("law", [*NARROW[:3], *WIDE], ids=repr)
def test_both_kernels_read_the_same_numbers_and_leave_the_stream_at_the_same_word(law, monkeypatch):
    pytest.importorskip("numba")
    compiled_stream, plain_stream = SeededDraws(12), SeededDraws(12)
    assert strips.loops("draws").__name__ == "sfumato.kernels.draws_compiled"
    compiled = law.draw(150_000, compiled_stream)
    for module in (strips, leads):
        monkeypatch.setattr(module, "loops", lambda *_, **__: plain)
    assert np.array_equal(compiled, law.draw(150_000, plain_stream))
    assert compiled_stream.bits(64) == plain_stream.bits(64)


@pytest.mark.parametrize("law", [NARROW[0], WIDE[0], WIDE[2]], ids=repr)
def test_one_piece_of_the_stream_reaches_only_its_own_number(law):
    table, count = strips_of(law), 4096
    size = -(-(table.lead_bits + table.bits) // 8)
    script = SeededDraws(13).words(count * size // 8 + 200)

    def drawn(script):
        noise = np.zeros(count, dtype=np.int64)
        refused = table._try(noise, Scripted(*script.tolist()))
        noise[refused] = 2**62
        return noise

    usual = drawn(script)
    for word in range(0, count * size // 8, 37):
        turned = script.copy()
        turned[word] ^= np.uint64(2**64 - 1)
        # Which later words are for which number may shift, so only settled numbers are compared.
        reached = range(8 * word // size, min(count, 8 * (word + 1) // size + 1))
        others = np.setdiff1d(np.arange(count), reached)
        settled = settled_places(table, script, count) & settled_places(table, turned, count)
        assert np.array_equal(drawn(turned)[others][settled[others]], usual[others][settled[others]])
        assert not np.array_equal(drawn(turned), usual)


def settled_places(table, script, count):
    size = -(-(table.lead_bits + table.bits) // 8)
    stream = script.astype("<u8").tobytes()
    pieces = [int.from_bytes(stream[size * i : size * i + size], "little") for i in range(count)]
    return table.leads.settled[[piece & (1 << table.lead_bits) - 1 for piece in pieces]] != UNSETTLED


class HeavyTail(TwoSidedGeometric):
    """P(|K| >= m) = 1/m, whatever the rate."""

    def survival(self, m):
        return 1 / np.maximum(np.asarray(m, dtype=float), 1)

    def inverse_survival(self, u):
        return 1 / u

    def exact_survival(self, m, bits):
        return (1 << bits) // m, (1 << bits) // m + 1


class RoughPmf(TwoSidedGeometric):
    """A law that says its probabilities to 2^-30 only."""

    def pmf(self, k):
        return super().pmf(k) * (1 + 2.0**-30)


@pytest.mark.parametrize("law", [HeavyTail(F(1)), RoughPmf(F(1))], ids=repr)
def test_a_law_that_does_not_suit_strips_is_drawn_by_words(law):
    assert strips_of(law) is None
    words = SeededDraws(15)
    assert np.array_equal(law.draw(MANY, SeededDraws(15)), strips.by_words(law, MANY, words))


WITHOUT_NUMBA = """
import sys
import zlib
sys.modules["numba"] = None
from fractions import Fraction
from sfumato.draws import SeededDraws, TwoSidedGeometric
from sfumato.kernels.choose import loops
noise = TwoSidedGeometric(Fraction(1, 1000)).draw(100_000, SeededDraws(14))
print(loops("draws").__name__, zlib.crc32(noise.tobytes()))
"""
FEW = """
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
    assert said(WITHOUT_NUMBA.replace('sys.modules["numba"] = None', "import numba"))[1:] == [fingerprint]


def test_few_draws_do_not_load_numba():
    assert said(FEW) == ["False"]
