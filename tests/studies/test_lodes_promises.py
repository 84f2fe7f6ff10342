"""What relations between employers give, and the counterexample, against the numbers of the note."""

import math
import xml.etree.ElementTree as ET

import pytest

from sfumato.studies import STUDIES
from sfumato.studies.lodes_curves import CURVES, picture
from sfumato.studies.lodes_promises import attackers, promised, weak_steps

GIVEN = {one.name: one.given for one in promised()}


@pytest.mark.parametrize(
    ("name", "what", "least", "most"),
    [
        ("size-within, log-laplace", "in or out", 0.99, 1.0),
        ("size-within, log-laplace", "to another employer", 1.99, 2.0),
        ("size-within, log-laplace, factor 2", "to another employer", 0.99, 1.0),
        ("size-within, log-laplace", "size", 0.9, 1.0),
        ("size-within, smooth-gamma", "size", 0.8, 1.0),
        ("size-within, smooth-gamma, at least one", "size", 1.45, 1.6),
        ("size-within, smooth-gamma as published", "in or out", 0.15, 0.8926),
        ("size-within, log-laplace", "shape", 0.5, 2.0),
        ("size-within, smooth-gamma", "shape", 0.5, 2.0),
        ("size-within, smooth-laplace", "in or out", 0.45, 1.0),
        ("size-within, smooth-laplace", "size", 0.45, 1.0),
        ("size-within, smooth-laplace", "shape", 0.45, 2.0),
        ("size-within, smooth-laplace, at least one", "size", 1.01, 1.6),
        ("loss-by-size, bend 10 at 100 jobs, curve-laplace", "in or out", 0.0396, 0.0398),  # ln 1.1 / ln 11
        ("loss-by-size, bend 10 at 100 jobs, curve-laplace", "size", 0.038, 0.0398),
        ("one worker, geometric", "size", 5.99, 6.01),
        ("one establishment, 50 jobs count, geometric", "size", 0.0, 1.0),
    ],
)
def test_each_requirement_is_met_as_far_as_the_note_says(name, what, least, most):
    assert least <= GIVEN[name][what] <= most


def test_an_attacker_who_knows_less_learns_less():
    informed, weak = attackers()
    assert weak < informed
    assert informed == pytest.approx(math.log(32 / 30) / math.log(1.1), rel=2e-3)


def test_weak_neighbours_are_ten_steps_from_a_tenth_more_where_every_worker_is_of_a_kind_of_his_own():
    assert weak_steps(100, 100) == 10


def test_the_counterexample_loses_2_13_epsilon_by_the_paper_s_own_algorithm_and_plans_are_charged_rightly():
    said = {line.what: line.ours for line in STUDIES["lodes-theorem-7-5"].lines()}
    assert said["steps from 100 workers to 110"] == "1"
    assert said["steps from 10 women to 20"] == "10"
    assert said["algorithm 1 on the women"] == "2.13 epsilon"
    assert math.log(30 / 20) / (2 * math.log(1.1)) == pytest.approx(2.127, abs=1e-3)
    assert said["a plan, strong: women and men apart"] == "refused"
    assert said["a plan, weak: women and men apart"] == "epsilon 2"


def test_loss_curves_rise_with_the_logarithm_and_are_drawn():
    curve = CURVES["loss-by-size, bend 10, as size-within 10% with log-laplace"]
    assert curve(1) == pytest.approx(1)
    assert curve(10_000) - curve(1_000) == pytest.approx(math.log(10) / math.log(1.1), rel=0.01)
    steps = CURVES["size-within 10%: any mechanism, step by step"]
    assert all(curve(size) <= steps(size) for size in (1, 10, 100, 1_000, 10_000))
    drawn = picture()
    assert len(ET.fromstring(drawn.svg).findall(".//{*}polyline")) >= len(CURVES)
    assert len(STUDIES["lodes-loss-curves"].lines()) == 11
