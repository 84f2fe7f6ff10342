"""The soak's table says yes where all held, and no for each thing that can fail."""

from collections import Counter

import pytest
from bench.load import Phase
from bench.soak import Soaked, claims


def phase(*statuses):
    found = Phase(10)
    found.replies = [(float(place), status, 0.1) for place, status in enumerate(statuses)]
    return found


def soaked(replies=("question: 200", "download: 503 shed"), end=100.0, files=300, well=1):
    memory = [100.0] * 50 + [end] * 10
    return Soaked(Counter(replies), memory, [files] * 60, [(well, 0.1)] * 60)


def failed(seen=None, storm=(200, 503), after=(200,)):
    told = claims(seen or soaked(), phase(200), phase(*storm), phase(*after))
    return [claim for claim, (_, held) in told.items() if not held]


def test_all_holds():
    assert failed() == []
    assert failed(soaked(end=104)) == []


@pytest.mark.parametrize(
    ("seen", "claim"),
    [
        (soaked(["question: 500"]), "no reply"),
        (soaked(["question: 503"]), "no reply"),
        (soaked(["download: 200 cut off"]), "no reply"),
        (soaked(["question: no reply"]), "no reply"),
        (soaked(end=106.0), "memory"),
        (soaked(files=5_000), "connections"),
        (soaked(well=0), "`/health`"),
    ],
)
def test_what_does_not_hold_is_said(seen, claim):
    assert [one.startswith(claim) for one in failed(seen)] == [True]


def test_a_storm_may_be_shed_and_must_pass():
    assert failed(storm=(200, 500)) == ["twice the held load is shed"]
    assert failed(storm=(200, 0)) == ["twice the held load is shed"]
    assert failed(after=(*[200] * 10, 503)) == ["and recovered from"]
    assert failed(after=(503, *[200] * 9)) == []
