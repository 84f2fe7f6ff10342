"""Pay where the number of jobs is hidden: one refusal, which says what can be measured instead."""

from pathlib import Path

import pytest

from sfumato.errors import PromiseError
from sfumato.plan import Plan
from sfumato.privacy.neighbours import SizeWithin
from sfumato.statistics import Total


@pytest.mark.parametrize("clip", [None, ("0", "9")])
def test_pay_under_size_within_has_one_refusal_that_leads_on(clip):
    """With a clip it was told to leave the clip out, and without one to measure something else."""
    plan = Plan.parse(PAY.replace("CLIP", 'clip = ["0", "9"], ' if clip else ""), Path("plan.toml"))
    with pytest.raises(
        PromiseError, match=r"a total of pay has no price, with a clip or without\. .*reports = \[\"pay\"\]"
    ):
        plan.price()


def test_reports_of_a_frame_are_told_to_leave_out_a_clip():
    relation = SizeWithin("shop", "0.1", "id", reports=("pay",))
    assert "leave it out" in relation.unfit(Total("pay", clip=("0", "9")).contribution)
    assert relation.unfit(Total("pay").contribution) == ""


PAY = """
name = "pay"
[data]
unit = "job"
[attributes.county]
levels = ["a", "b"]
of = "shop"
[hidden]
neighbours = "size-within"
unit = "shop"
id = "shop"
alpha = "0.1"
[limit]
epsilon = "4"
[[measure]]
name = "pay"
of = { statistic = "total", column = "pay", CLIPstep = "1" }
by = ["county"]
with = { mechanism = "log-laplace", epsilon = "2" }
"""
