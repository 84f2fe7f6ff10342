"""A fuzzer that reads our OpenAPI document finds no fault, no undocumented status and no answer out of its shape."""

from collections import Counter

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from sfumato.serve.app import over
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Limits, Running

SHAPES = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
NAMES = ["place", "sex", "age", "trade", "hours", "metric", "none"]
CODES = ["*", "N", "N1*", "??", "S,2", "male", "16-29", "a", "h03", "top(2)", "[range(a,c)]", "from(b)", "x"]
LISTS = ["level0", "level1", "leaves", "all", "jobs-survey~place~level0", "none"]
UNMAPPED = {"POST /api/v2/tables/{table_id}/within/{variable}"}
"""What this release, which has no map, refuses; `test_own_area.py` asks it of one that has."""
FORMATS = ["json-stat2", "csv", "xlsx", "parquet", "sdmx-csv"]


def known(client):
    """Names of things that are there: a fuzzer would take for ever to find one."""
    selection = {"selection": [{"variableCode": "sex", "valueCodes": ["*"]}]}
    saved = client.ask("POST", "/api/v2/savedqueries", json={"tableId": "jobs-survey~jobs", "selection": selection})
    return {
        "table_id": ["jobs-survey~jobs", "jobs-survey~pay"],
        "codelist_id": ["jobs-survey~place~level1", "jobs-survey~sex~all"],
        "release": ["jobs-survey"],
        "variable": ["place", "sex"],
        "query_id": [saved.json()["id"]],
    }


def codes_of(strategy):
    return st.dictionaries(st.sampled_from(NAMES), strategy, max_size=3)


aimed_query = st.fixed_dictionaries(
    {},
    optional={
        "valueCodes": codes_of(st.sampled_from(CODES)),
        "codelist": codes_of(st.sampled_from(LISTS)),
        "sum": codes_of(st.sampled_from(CODES)),
        "group": codes_of(st.sampled_from(["Mine:a,b", "Mine:N1,S1", "Mine:", ":a", "female:male"])),
        "stub": st.lists(st.sampled_from(NAMES), max_size=2),
        "heading": st.lists(st.sampled_from(NAMES), max_size=2),
        "outputFormat": st.sampled_from(FORMATS),
        "lang": st.sampled_from(["en", "de", "sv"]),
    },
)
aimed_body = st.fixed_dictionaries(
    {
        "selection": st.lists(
            st.fixed_dictionaries(
                {"variableCode": st.sampled_from(NAMES)},
                optional={
                    "valueCodes": st.lists(st.sampled_from(CODES), max_size=3),
                    "codelist": st.sampled_from(LISTS),
                    "groups": st.lists(st.sampled_from(["Mine:a,b", "x"]), max_size=2),
                },
            ),
            max_size=3,
        )
    },
    optional={
        "sum": codes_of(st.lists(st.sampled_from(CODES), max_size=2)),
        "placement": st.fixed_dictionaries({}, optional={"heading": st.lists(st.sampled_from(NAMES), max_size=2)}),
    },
)


class Fuzzer:
    """Asks what the document allows, what it does not allow, and what is sure to be understood; counts the replies."""

    def __init__(self, application, there, examples):
        self.schema = schemathesis.openapi.from_asgi("/openapi.json", application)
        self.there = there
        self.settings = settings(
            max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        self.replies = Counter()

    def run(self):
        for found in self.schema.get_all_operations():
            operation = found.ok()
            takes = [*operation.path_parameters, *operation.query, *operation.body]
            # What takes nothing cannot be asked wrongly.
            for mode in GenerationMode if takes else [GenerationMode.POSITIVE]:
                self._ask(operation, mode)
            self._aim(operation)

    def _ask(self, operation, mode):
        @self.settings
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            self._seen(case, case.call_and_validate(checks=[*SHAPES, checks.negative_data_rejection]))

        ask()

    def _aim(self, operation):
        names = [one.name for one in operation.path_parameters]
        there = st.fixed_dictionaries({name: st.sampled_from(self.there[name]) for name in names})
        known_query = {one.name for one in operation.query}
        whole = aimed_body.map(lambda body: {"tableId": "jobs-survey~jobs", "selection": body})
        body = whole if "savedqueries" in operation.path else aimed_body

        @self.settings
        @given(case=operation.as_strategy(), path=there, query=aimed_query, body=body)
        def ask(case, path, query, body):
            case.path_parameters = path
            case.query = {name: value for name, value in query.items() if name in known_query}
            if operation.method.lower() == "post":
                case.body, case.media_type = body, "application/json"
            self._seen(case, case.call_and_validate(checks=SHAPES))

        ask()

    def _seen(self, case, response):
        self.replies[case.operation.label, response.status_code] += 1


def fuzzed(browse, release, examples):
    # Without the bound on one client's calls, which would refuse all but the first of so many.
    application = over(Catalogue.open([release]), running=Running(Limits(calls=0)))
    fuzzer = Fuzzer(application, known(browse([release])), examples)
    fuzzer.run()
    return fuzzer.replies


def test_no_fault_and_no_answer_out_of_shape(browse, release):
    replies = fuzzed(browse, release, 3)
    good = {label for label, status in replies if status in {200, 201}}
    assert {label for label, _ in replies} - good == UNMAPPED, "every other operation was answered at least once"
    assert replies.total() > 100


def test_an_answer_out_of_shape_is_found(browse, release, monkeypatch):
    monkeypatch.setattr("sfumato.serve.api.releases.Health.to_bytes", lambda _: b'{"status": 1}')
    with pytest.raises(FailureGroup):
        fuzzed(browse, release, 1)


@pytest.mark.slow
def test_ten_thousand_requests_find_no_fault(browse, release):
    replies = fuzzed(browse, release, 300)
    assert replies.total() >= 10_000
