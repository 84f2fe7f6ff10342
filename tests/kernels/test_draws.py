"""The compiled loops give what their twins in plain numpy give, on random and on crafted input."""

import numpy as np
import pytest

from sfumato.kernels import draws as plain
from sfumato.kernels.draws import DOUBTFUL, REFUSED, TAIL, TAKEN, UNSETTLED, Leads, Opened, Rest

pytest.importorskip("numba")
from sfumato.kernels import draws_compiled as compiled

TWINS = (plain, compiled)
LEAD_BITS = 8
SHAPES = pytest.mark.parametrize(("bits", "size"), [(0, 1), (3, 2), (16, 3), (30, 5), (48, 7)])


def both(call):
    """What `call` returns with either twin."""
    return [call(twin) for twin in TWINS]


def random_leads(rng):
    """A hundred leads that settle a block, then those of blocks and of a tail."""
    settled = np.full(1 << LEAD_BITS, UNSETTLED, dtype=np.int16)
    settled[:100] = rng.integers(-4, 4, 100)
    block, height = rng.integers(-4, 4, 156).astype(np.int16), rng.integers(0, 5, 156).astype(np.int32)
    height[-16:] = -1
    return Leads(settled, block, height)


def random_pieces(rng, bits, size, n=3000):
    """Pieces of so many bytes, read as eight at a stride, and what each is by hand: a lead and a position."""
    stream = rng.integers(0, 256, n * size + 8, dtype=np.uint8)
    pieces = np.ndarray((n,), dtype="<u8", buffer=stream.data, strides=(size,))
    by_hand = [int.from_bytes(stream[size * i : size * i + 8].tobytes(), "little") for i in range(n)]
    return pieces, [(piece % 256, (piece >> LEAD_BITS) % (1 << bits)) for piece in by_hand]


@SHAPES
def test_pieces_are_looked_up_alike(bits, size):
    rng = np.random.default_rng(1)
    leads, (pieces, by_hand) = random_leads(rng), random_pieces(rng, bits, size)

    def call(twin):
        found = np.empty(len(pieces), dtype=np.int64)
        opened = Opened(np.empty(len(pieces), dtype=np.int32), np.empty(len(pieces), dtype=np.uint64))
        count = twin.look_up(pieces, leads, bits, found, opened)
        return found.tolist(), opened.places[:count].tolist(), opened.pieces[:count].tolist()

    one, other = both(call)
    assert one == other
    assert one[0] == [(int(leads.settled[lead]) << bits) + position for lead, position in by_hand]
    assert one[1] == [i for i, (lead, _) in enumerate(by_hand) if lead >= 100]
    assert [piece % 256 for piece in one[2]] == [by_hand[i][0] for i in one[1]]


def verdict(lead, position, word, leads, levels, bits):
    """What becomes of a point, by hand."""
    block, height = int(leads.block[lead - 100]), int(leads.height[lead - 100])
    least, most = levels[block + 4, position * levels.shape[1] >> bits].tolist()
    point = height + (word >> 11) / 2**53
    return TAIL if height < 0 else TAKEN if point < least else REFUSED if point >= most else DOUBTFUL


@pytest.mark.parametrize(("bits", "parts"), [(0, 1), (2, 4), (9, 8), (38, 8)])
def test_points_are_weighed_alike(bits, parts):
    rng = np.random.default_rng(2)
    leads, size = random_leads(rng), -(-(LEAD_BITS + bits) // 8)
    pieces, by_hand = random_pieces(rng, bits, size)
    places = np.array([i for i, (lead, _) in enumerate(by_hand) if lead >= 100], dtype=np.int32)
    words = rng.integers(0, 2**64 - 1, len(places), dtype=np.uint64, endpoint=True)
    levels = np.sort(rng.uniform(0, 5, (8, parts, 2)).astype(np.float32))

    def call(twin):
        found = np.zeros(len(pieces), dtype=np.int64)
        rest = twin.weigh(Opened(places, pieces[places]), words, leads, levels, bits, found)
        return found.tolist(), *(each.tolist() for each in rest)

    one, other = both(call)
    assert one == other
    found, *rest = one
    verdicts = [verdict(*by_hand[i], word, leads, levels, bits) for i, word in zip(places, words.tolist(), strict=True)]
    assert {REFUSED, TAKEN, DOUBTFUL, TAIL} == set(verdicts)
    left = [(i, v) for i, v in zip(places.tolist(), verdicts, strict=True) if v != TAKEN]
    rest = Rest(*rest)
    assert list(zip(rest.places, rest.verdicts, strict=True)) == left
    assert rest.pieces == pieces[rest.places].tolist()
    assert rest.words == [word for word, v in zip(words.tolist(), verdicts, strict=True) if v != TAKEN]
    for i in places.tolist():
        lead, position = by_hand[i]
        assert found[i] == (int(leads.block[lead - 100]) << bits) + position
    assert not any(found[i] for i, (lead, _) in enumerate(by_hand) if lead < 100)


@SHAPES
def test_nothing_left_open_is_nothing_to_weigh(bits, size):
    leads = Leads(np.zeros(256, dtype=np.int16), np.empty(0, dtype=np.int16), np.empty(0, dtype=np.int32))
    nothing = Opened(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64))
    found, levels = np.zeros(size, dtype=np.int64), np.zeros((8, 1, 2), dtype=np.float32)
    for twin in TWINS:
        rest = twin.weigh(nothing, nothing.pieces, leads, levels, bits, found)
        assert [len(each) for each in rest] == [0, 0, 0, 0]
