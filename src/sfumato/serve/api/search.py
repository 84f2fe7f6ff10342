"""Search: what words may mean in all that is served, with the number where there is one."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import QueryError
from sfumato.query.finder import LONGEST, MOST
from sfumato.release import stated
from sfumato.schema.languages import OWN
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import LANG, query
from sfumato.serve.api.selection import language_of
from sfumato.serve.pages.found import FoundLine, FoundNumber, found_lines
from sfumato.serve.pages.look import Look
from sfumato.serve.reply import as_json
from sfumato.serve.search_shapes import FoundEntry, FoundFigure, SearchResponse
from sfumato.serve.shapes import Link

_PARAMETERS = [
    query(
        "q",
        "Words or codes; what nothing is called is taken for the nearest.",
        {"type": "string", "maxLength": LONGEST},
    ),
    query("size", "The most that is given.", {"type": "integer", "minimum": 1, "maximum": MOST, "default": 8}),
    LANG,
]


def search(served: Served, request: Request) -> Response:
    """What words may mean: tables, variables and levels, by name, code, synonym or nearly so, with their numbers."""
    given = parameters(request, "q", "size", "lang")
    language, asked = language_of(given), given.plain.get("q", ("",))[-1].strip()
    if len(asked) > LONGEST:
        raise QueryError(f"q has {len(asked):,} characters; at most {LONGEST} are looked for.")
    finds = served.catalogue.finder.find(asked, given.whole("size", 8, MOST))
    lines = found_lines(
        served.catalogue, served.at(request), finds.finds, Look(lang="" if language == OWN else language)
    )
    said = SearchResponse(
        language=language,
        asked=asked,
        meant=" ".join(finds.meant),
        mistyped=finds.mistyped,
        finds=[_entry(one, language) for one in lines],
    )
    return as_json(request, said, served.catalogue.tag)


def _entry(line: FoundLine, language: str) -> FoundEntry:
    find = line.find
    return FoundEntry(
        label=line.label,
        about=line.about,
        release=line.release,
        synonym=find.synonym or None,
        table=find.table.id,
        codes=dict(find.codes),
        variable=find.variable or None,
        share=find.share,
        per=find.per or None,
        said=line.said or None,
        text=line.first.text or None,
        notices=[one.sentence for one in line.first.sheet.edition.notices],
        figures=[_figure(one, language) for one in line.numbers],
        links=[Link(rel="page", hreflang=language, href=line.first.href)],
    )


def _figure(number: FoundNumber, language: str) -> FoundFigure:
    estimate = number.estimate
    return FoundFigure(
        table=number.sheet.id,
        title=number.title,
        unit=number.unit,
        estimate=estimate.value if estimate else None,
        moe90=stated(estimate.moe(0.90)) if estimate else None,
        grade=estimate.grade if estimate else None,
        caveat=(estimate.caveats.said(language) or None) if estimate else None,
        text=number.text or None,
        links=[Link(rel="page", hreflang=language, href=number.href)],
    )


OPERATIONS: Sequence[Operation] = (Operation("Search", "/api/v2/search", search, SearchResponse, _PARAMETERS, (400,)),)
