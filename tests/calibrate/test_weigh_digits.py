"""Weights with many digits once made weighted sums wrap around 64 bits and come out negative."""

import pytest

from sfumato.calibrate.weigh import Weigh
from sfumato.errors import PlanError
from sfumato.schema import Attribute, Levels, Table

TABLE = Table((Attribute("stratum", Levels.of("ab")), Attribute("sex", Levels.of("fm"))))


def test_weights_with_too_many_digits_are_refused_before_anything_is_opened():
    Weigh("weighed", "jobs", "stratum", {"a": "1234.56", "b": "312.0001"}).refuse_unfit(TABLE, [])
    with pytest.raises(PlanError, match="too many digits"):
        Weigh("weighed", "jobs", "stratum", {"a": "1234.5678901234", "b": "312.0000001"}).refuse_unfit(TABLE, [])
