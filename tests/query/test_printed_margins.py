"""What a text prints of an error holds as it is printed: margins are rounded up and intervals outward."""

import re

import numpy as np
import pytest

from sfumato.query import Estimate
from sfumato.query.layout import text

CASES = np.random.default_rng(6).uniform(0.003, 0.2, (60, 2))


def numbers(said: str) -> list[float]:
    return [float(one.replace("−", "-")) for one in re.findall(r"[−]?\d+\.?\d*", said)]


@pytest.mark.parametrize("unit", ["share", "jobs"])
def test_a_printed_margin_is_no_less_than_the_margin_and_a_printed_interval_no_shorter(unit):
    for value, se in CASES:
        scale, rest = (100, {"unit": "share"}) if unit == "share" else (1, {})
        one = Estimate(value, se**2, **rest) if unit == "share" else Estimate(100 * value, (100 * se) ** 2)
        margin, (low, high) = scale * one.moe(), one.interval(0.95)
        _, printed = numbers(text(one))
        assert margin <= printed + 1e-9 < margin + 0.1 + 1e-9
        _, least, most, *_ = numbers(text(one, "interval95"))
        assert least <= scale * low + 1e-9
        assert most >= scale * high - 1e-9
        assert least > scale * low - 0.1 - 1e-9
        assert most < scale * high + 0.1 + 1e-9


def test_a_share_is_printed_with_the_margin_that_its_page_has():
    assert text(Estimate(0.1814, 0.0398**2, unit="share")) == "18.1% ± 6.6 B"  # 1.6449 × 3.98 is 6.547
