"""PxWebApi 2 as its document specifies it: a fuzzer that reads the document finds what is written down here alone."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from sfumato.errors import QueryError
from sfumato.serve.app import over
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.limits import Limits, Running

FILES = [None, None, "csv", "xlsx", "parquet"]
"""Formats that are sure to be given: a fuzzer asks for too much else at once."""
OFFICIAL = Path(__file__).parents[3] / "shared" / "data" / "pxapi" / "PxAPI-2.yml"
"""The document of PxWebApi 2 as PxTools publishes it (PxApiSpecs, Apache-2.0)."""
pytestmark = pytest.mark.skipif(not OFFICIAL.is_file(), reason=f"the document of PxWebApi 2 is not at {OFFICIAL}")
ALWAYS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
ASKED = {
    GenerationMode.POSITIVE: checks.positive_data_acceptance,
    GenerationMode.NEGATIVE: checks.negative_data_rejection,
}


@dataclass(frozen=True)
class Allowed:
    """A violation that stands: of which check, at which operations, in which words of fuzzer and reply, and why."""

    check: str
    operation: str
    words: str
    why: str
    reply: str = ""

    def covers(self, check, operation, words, reply):
        there = re.fullmatch(self.operation, operation) and re.search(self.words, words, re.DOTALL)
        return self.check == check and bool(there) and bool(re.search(self.reply, reply))


NOT_THERE = (
    r'"detail":"('
    r"(lang|language|outputFormat|pageNumber|pageSize) is '|(lang|outputFormatParams) has |query has [\d,]+ characters|"
    r"There is no (table|code list|parameter) '|'.*' is not (a variable|an attribute|a level|a code)|"
    r".*: Extra inputs are not permitted|the body: Invalid JSON: EOF|outputFormatParams |.* twice|.* is placed but|"
    r"codelist, savedQuery and defaultSelection|.*: no code is given"
    r")"
)
"""The refusals of what is not here or undefined, of what cannot be combined, and of nothing else."""
WRITTEN_DOWN = (
    Allowed(
        "JsonSchemaError",
        r"(GET|POST) /.*/data",
        r'is not of type "string"',
        "The document calls the answer to /data a string, whatever its format; a JSON-stat dataset is an object.",
    ),
    Allowed(
        "UndefinedContentType",
        r"(GET|POST) /.*/data",
        r"Received: (text/csv|application/vnd\.(openxml|apache))",
        "The document names no media type of CSV, Excel and Parquet files; they have the registered ones.",
    ),
    Allowed(
        "JsonSchemaError",
        r"GET /tables(/\{id\})?",
        r'"\d{4}-\d\d-\d\d" is not valid under any of',
        "`updated` of a table has the pattern of a date and the format of a date with a time; nothing is both.",
    ),
    Allowed(
        "JsonSchemaError",
        r".* /(tables/\{id\}/defaultselection|savedqueries.*)",
        r'"values" is a required property',
        "The document requires `values` of a selected variable and does not define it; `valueCodes` is defined.",
    ),
    Allowed(
        "UndefinedStatusCode",
        r"GET /tables",
        r"Received: 400\nDocumented: 200$",
        "The document has no refusal of /tables; what cannot be read, or is not there, is refused as elsewhere.",
    ),
    Allowed(
        "RejectedPositiveData",
        r".*",
        r"",
        "A language, a format, a code or a variable that is not there is refused with 400, as the document has it, "
        "which cannot say what is there; so is what cannot be combined. A property that it does not define is refused, "
        "as a misspelt `valueCodes` would ask for something else in silence; so is an empty query that is to be saved.",
        NOT_THERE,
    ),
)


def document():
    """The document without its examples, which are in other files, at the path that it has here."""

    def plain(part):
        if isinstance(part, dict):
            return {key: plain(one) for key, one in part.items() if key != "examples"}
        return [plain(one) for one in part] if isinstance(part, list) else part

    return plain(yaml.safe_load(OFFICIAL.read_text(encoding="utf-8"))) | {"servers": [{"url": "/api/v2"}]}


def known(client):
    """What there is, by the start of a path."""
    chosen = {"selection": [{"variableCode": "sex", "valueCodes": ["*"]}]}
    query = {"tableId": "jobs-survey~jobs", "language": "en", "selection": chosen}
    saved = client.ask("POST", "/api/v2/savedqueries", json=query).json()["id"]
    return {
        "/tables/{id}": "jobs-survey~jobs",
        "/codelists/{id}": "jobs-survey~place~level1",
        "/savedqueries/{id}": saved,
    }


class Conformance:
    """What a fuzzer finds by the official document: violations that are written down, and others."""

    def __init__(self, application, there, examples, *, same):
        self.schema, self.there = schemathesis.openapi.from_dict(document()), there
        self.schema.app = application
        quiet = {"deadline": None, "database": None, "derandomize": same, "suppress_health_check": list(HealthCheck)}
        self.settings = settings(max_examples=examples, phases=[Phase.generate], **quiet)
        self.replies, self.allowed, self.violations = Counter(), set(), []

    def run(self, only):
        operations = [found.ok() for found in self.schema.get_all_operations()]
        for operation in (one for one in operations if re.fullmatch(only, one.label)):
            for mode in GenerationMode:
                if mode is GenerationMode.POSITIVE or operation.query or operation.body:
                    self._ask(operation, mode)
        return self

    def _ask(self, operation, mode):
        ids = [own for start, own in self.there.items() if operation.path.startswith(start)]
        aimed = st.sampled_from([{"id": own} for own in ids] + [None])

        @self.settings
        @given(case=operation.as_strategy(generation_mode=mode), path=aimed, form=st.sampled_from(FILES))
        def ask(case, path, form):
            if path is not None and case.path_parameters:
                case.path_parameters = path
                if form and mode is GenerationMode.POSITIVE and operation.path.endswith("/data"):
                    case.query = {"outputFormat": form}
            reply = case.call()
            self.replies[operation.label, reply.status_code] += 1
            try:
                case.validate_response(reply, checks=[*ALWAYS, ASKED[mode]])
            except* Exception as group:  # noqa: BLE001 - all that was found, one by one
                self._sort(operation.label, group.exceptions, reply)

        ask()

    def _sort(self, label, found, reply):
        said = reply.content.decode(errors="replace")
        for one in found:
            name, words = type(one).__name__, str(one)
            why = [allowed for allowed in WRITTEN_DOWN if allowed.covers(name, label, words, said)]
            self.allowed.update(why)
            if not why:
                self.violations.append((label, name, words, reply.status_code, said[:200]))


def fuzzed(browse, release, examples, only=".*", *, same=True):
    application = over(Catalogue.open([release]), running=Running(Limits(calls=0)))
    return Conformance(application, known(browse([release])), examples, same=same).run(only)


def test_the_official_document_is_kept_but_where_it_contradicts_itself(browse, release):
    found = fuzzed(browse, release, 15)
    assert found.violations == []
    assert {label for label, status in found.replies if status == 200} >= {
        label for label, _ in found.replies if label.startswith("GET ")
    }, "every question was answered at least once"


def test_what_was_violated_is_found(browse, release, monkeypatch):
    """The control of the test above: without a parameter of the document, and with values where there are none."""
    from sfumato.serve import jsonstat

    def without(*given, plain=jsonstat.metadata):
        return plain(*given).replace(b'"value":null,', b"")

    monkeypatch.setattr(jsonstat, "metadata", without)
    monkeypatch.setattr("sfumato.serve.api.tables._since", refuse)
    found = {
        (label, name) for label, name, *_ in fuzzed(browse, release, 60, r"GET /tables(/\{id\}/metadata)?").violations
    }
    assert found == {
        ("GET /tables/{id}/metadata", "JsonSchemaError"),
        ("GET /tables", "RejectedPositiveData"),
    }


def refuse(given):
    if "pastDays" in given.plain:
        raise QueryError("pastDays is unknown.")
    return ""


@pytest.mark.slow
def test_thousands_of_requests_find_no_more(browse, release):
    found = fuzzed(browse, release, 120, same=False)
    assert found.violations == []
    assert found.replies.total() > 2_000
    assert found.allowed == set(WRITTEN_DOWN), "what no longer happens is struck from the list"
