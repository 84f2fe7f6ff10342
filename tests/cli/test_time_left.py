"""How long a search will take is said while it takes long, and not before."""

from itertools import count

from sfumato.cli.time_left import TimeLeft


def heard(capsys, seconds, stages):
    """The lines of a search of which each step takes so many seconds."""
    clock = (seconds * step for step in count())
    shown = []
    left = TimeLeft(lambda *step: shown.append(step), "Quicker: --clean 500.", lambda: next(clock))
    for doing, of in stages:
        for done in range(of):
            left(doing, done, of)
    assert shown == [(doing, done, of) for doing, of in stages for done in range(of)]
    return capsys.readouterr().err.splitlines()


def test_a_long_stage_says_how_long_it_will_take(capsys):
    """A step every 10 seconds: 30 seconds after the start 2 of 60 are done, so that 58 take 580 seconds."""
    lines = heard(capsys, 10, [("protecting", 60)])
    assert lines[0] == "protecting: 2 of 60, about 10 minutes left of this stage. Quicker: --clean 500."
    assert lines[-1].startswith("protecting: 59 of 60, about 1 minute left")
    assert len(lines) == 20


def test_a_stage_that_begins_again_is_measured_anew(capsys):
    lines = heard(capsys, 20, [("cleaning up", 3), ("cleaning up", 300)])
    assert any("of 300, about 100 minutes left" in line for line in lines)


def test_a_short_search_says_nothing(capsys):
    assert heard(capsys, 0.1, [("protecting", 60), ("auditing", 60)]) == []
