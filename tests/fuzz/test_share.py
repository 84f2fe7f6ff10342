"""A share of `make fuzz`: whatever is damaged is answered rightly or refused in words."""

import time
from itertools import count

import pytest
from tests.fuzz.of_plans import plans, priced_and_run
from tests.fuzz.of_releases import flipped, ours, refuse_wrong, sealed, show
from tests.fuzz.trials import ANSWERED, FAULT, REFUSED, WrongError, all_tried, in_time, tried

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.plan import Plan

CASES = {"plans": (priced_and_run, 40), "releases": (sealed, 25), "flips": (flipped, 20)}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.filterwarnings("ignore")
def test_no_damage_breaks_anything(kind):
    case, cases = CASES[kind]
    outcomes, faults = all_tried(case, range(20_000, 20_000 + cases))
    assert (faults, outcomes.total()) == ([], cases)
    assert outcomes[REFUSED]


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_damaged_is_answered():
    for folder in ours():
        refuse_wrong(sf.open(folder), folder)
    show(ours()[0])
    assert len(plans()) == 5


def test_a_hang_a_traceback_a_wrong_answer_and_an_empty_word_are_faults():
    def hang(_):
        with in_time(0.05):
            for _ in count():
                time.sleep(0.001)

    def wrong(_):
        raise WrongError("2 and 2 are 5")

    def unsaid(_):
        raise PlanError(" ")

    for case in (hang, wrong, unsaid, lambda _: 1 / 0, lambda _: {}["a"]):
        assert tried(case, 0)[0] == FAULT
    assert tried(lambda _: None, 0) == (ANSWERED, "")


@pytest.mark.filterwarnings("ignore")
def test_a_file_whose_statistics_ended_the_process_is_read_or_refused():
    # Arrow ends the process where the statistics of a column are asked for and are none.
    assert tried(sealed, 1441)[0] in {ANSWERED, REFUSED}


@pytest.mark.parametrize(
    ("written", "other", "words"),
    [
        ('unit = "euros"', "unit = 5", "a 'unit' that is no text"),
        ('column = "pay"', 'column = ["pay"]', "a 'column' that is no text"),
        ('levels = ["north", "south", "east"]', f'levels = "{"a" * 5000}"', "is not there"),
        ('epsilon = "2"', 'epsilon = "1e20"', "promises nothing"),
        ('epsilon = "2"', f'epsilon = "2.{"0" * 5000}1"', "is not a number|promises nothing"),
    ],
)
def test_what_fuzzing_found_in_plans_is_refused_before_anything_is_charged(tmp_path, written, other, words):
    from tests.conftest import SMALL

    assert written in SMALL
    with pytest.raises(PlanError, match=words):
        Plan.parse(SMALL.replace(written, other), tmp_path / "plan.toml").price()


def test_a_step_that_reads_a_list_is_refused(tmp_path):
    from tests.conftest import SMALL

    step = '[[then]]\nstep = "rake"\nname = "x"\ntable = "jobs"\nto = [["pay"]]\n'
    with pytest.raises(PlanError, match="a 'to' that is no list of texts"):
        Plan.parse(SMALL + step, tmp_path / "plan.toml")
