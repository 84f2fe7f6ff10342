"""Which tests run which lines: coverage of every test by itself, what wider fixtures ran counted for all who use them.

A pytest plug-in: `SFUMATO_MEASURED=FILE pytest -p tests.mutants.measured` writes the seconds of every test that passed
and the lines of the sources in `SFUMATO_LINES_OF` that it ran. What takes more than a few seconds is
stopped and left out: it is no test to run for each mutant.
"""

import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest
from coverage import Coverage

SECONDS = {signal.ITIMER_PROF: (signal.SIGPROF, 4), signal.ITIMER_REAL: (signal.SIGALRM, 40)}
"""Of the processor and of the clock, for a test and for what is set up once for several."""


@contextmanager
def in_time():
    def stop(*_):
        pytest.fail("too long", pytrace=False)  # which no `except Exception` swallows

    before = {timer: signal.signal(told, stop) for timer, (told, _) in SECONDS.items()}
    for timer, (_, seconds) in SECONDS.items():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, (told, _) in SECONDS.items():
            signal.setitimer(timer, 0)
            signal.signal(told, before[timer])


class Measurement:
    """The lines and seconds of each test, as they are seen."""

    def __init__(self) -> None:
        self.coverage = Coverage(data_file=None, include=os.environ["SFUMATO_LINES_OF"].split(":"))
        # Tests of a folder may run none of the lines; pytest would take coverage's warning of it for a failure.
        self.coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, set[str]] = {}
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        named = getattr(item, "_fixtureinfo", None)
        found = named.name2fixturedefs.values() if named else ()
        self.fixtures[item.nodeid] = {_fixture(one) for each in found for one in each if one.scope != "function"}
        begun = _busy()
        told = yield
        self.seconds[item.nodeid] = round(_busy() - begun, 3)
        self.coverage.switch_context("")
        return told

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope != "function":
            self.coverage.switch_context(_fixture(fixturedef))
        try:
            with in_time():
                return (yield)
        finally:
            if fixturedef.scope != "function":
                self.coverage.switch_context(os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        with in_time():
            return (yield)

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed":
            self.fixtures.pop(report.nodeid, None)

    def pytest_sessionfinish(self):
        self.coverage.stop()
        seen, lines = self.coverage.get_data(), {}
        self.fixtures = {test: fixtures for test, fixtures in self.fixtures.items() if test in self.seconds}
        of_context: dict[str, set[str]] = {}
        for test, fixtures in self.fixtures.items():
            for context in {test, *fixtures}:
                of_context.setdefault(context, set()).add(test)
        for path in seen.measured_files():
            by_line = seen.contexts_by_lineno(path).items()
            tests = {line: set().union(*(of_context.get(one, ()) for one in contexts)) for line, contexts in by_line}
            lines[path] = {line: sorted(run) for line, run in tests.items() if run}
        passed = {test: self.seconds[test] for test in self.fixtures}
        Path(os.environ["SFUMATO_MEASURED"]).write_text(json.dumps({"seconds": passed, "lines": lines}), "utf-8")


def _busy() -> float:
    """The seconds that the processor worked for this process and those that it started."""
    return sum(os.times()[:4])


def _fixture(definition) -> str:
    return f"fixture {definition.baseid} {definition.argname}"


def pytest_configure(config):
    config.pluginmanager.register(Measurement(), "measurement")
