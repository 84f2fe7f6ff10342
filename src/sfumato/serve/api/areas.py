"""Areas of readers: which levels of a table lie inside an area that is sent as GeoJSON, and where their numbers are."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from sfumato.geography.reader_area import from_geojson
from sfumato.serve.api.data import body_of
from sfumato.serve.api.describe import Operation
from sfumato.serve.api.lookup import Served, parameters
from sfumato.serve.api.parameters import LANG
from sfumato.serve.api.selection import language_of
from sfumato.serve.drawn import DrawnGroup, drawn_groups, shapes_of
from sfumato.serve.question import Question, data_path, data_query
from sfumato.serve.reply import fresh
from sfumato.serve.shapes import AreaResponse, GeoJson, Link

PATH = "/api/v2/tables/{table_id}/within/{variable}"
JSON = "application/json"


def within(served: Served, request: Request) -> Response:
    """The areas inside one that is sent as GeoJSON, those that its border cuts, and where their numbers are."""
    sheet, name = served.sheet(request.path_params["table_id"]), request.path_params["variable"]
    language = language_of(parameters(request, "lang"))
    area = from_geojson(body_of(request), shapes_of(sheet, name))
    groups = drawn_groups(sheet, {name: (area.outline,)})
    found = {one.part: list(one.codes) for one in groups[name] if isinstance(one, DrawnGroup)}
    question = Question(sheet, {name: ()}, {}, groups)
    data = f"{data_path(sheet, served.at(request), lasting=False)}?{data_query(question, language=language)}"
    reply = AreaResponse(
        language=language,
        variable=name,
        inside=found.get("inside", []),
        cut=found.get("cut", []),
        drawn=area.outline,
        links=[Link(rel="data", hreflang=language, href=data)],
    )
    return fresh(reply.to_bytes(), JSON)


OPERATIONS: Sequence[Operation] = (Operation("PostAreaWithin", PATH, within, AreaResponse, [LANG], body=GeoJson),)
