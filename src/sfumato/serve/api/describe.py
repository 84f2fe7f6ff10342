"""Describe: how the API's operations stand in its OpenAPI document, with the statuses and shapes that really occur."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sfumato.schema.languages import OWN
from sfumato.serve.api.lookup import Served
from sfumato.serve.reply import REFUSALS
from sfumato.serve.shapes import ProblemDetails, Shape

Endpoint = Callable[[Served, Request], Response]
Described = dict[str, Any]

_PROBLEM = {"application/problem+json": {"schema": ProblemDetails.model_json_schema()}}
_ALWAYS = (403, 414, 429, 503)


class Plain(APIRoute):
    """A route that is described as every other and run as it stands: a request in, a reply out, nothing between."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        endpoint = self.endpoint

        async def handle(request: Request) -> Response:
            if request.method == "POST":
                request.state.body = await request.body()
            reply: Response = await run_in_threadpool(endpoint, request)
            return reply

        return handle


@dataclass(frozen=True)
class Operation:
    """One operation of the API: where it is asked for, what runs, what it gives, what it takes and how it refuses."""

    name: str
    path: str
    run: Endpoint
    answer: type[Shape] | Described
    parameters: Sequence[Described] = ()
    refusals: Sequence[int] = (400, 404)
    body: type[Shape] | None = None
    status: int = 200
    may_be_empty: bool = False

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"

    @property
    def responses(self) -> dict[int | str, Described]:
        """Every status that occurs, and what comes with it."""
        codes = {*self.refusals, *_ALWAYS, *((408, 413) if self.body else ())}
        told: dict[int | str, Described] = {code: _refusal(code) for code in sorted(codes)}
        told[self.status] = {"model": self.answer} if isinstance(self.answer, type) else {"content": self.answer}
        if self.body is None:
            told[304] = {"description": "The reader holds this content already."}
        return told

    @property
    def extra(self) -> Described:
        """The parameters and the body, as the document has them."""
        extra: Described = {"parameters": [*_in_path(self.path), *self.parameters]}
        if self.body is not None:
            schema = inlined(self.body.model_json_schema(by_alias=True))
            content = {"application/json": {"schema": schema}}
            extra["requestBody"] = {"required": not self.may_be_empty, "content": content}
        return extra


def offer(routes: APIRouter, operation: Operation, served: Served) -> None:
    """Add an operation over what is served; where there is GET there is HEAD."""
    run = partial(_in_language, operation.run, served)
    routes.add_api_route(
        operation.path,
        run,
        methods=[operation.method],
        operation_id=operation.name,
        name=operation.name,
        summary=str(operation.run.__doc__).rstrip("."),  # the one sentence that its function says of itself
        description="",
        responses=operation.responses,
        status_code=operation.status,
        response_model=None,
        openapi_extra=operation.extra,
    )
    if operation.body is None:
        routes.add_api_route(operation.path, _headless(run), methods=["HEAD"], include_in_schema=False)


def _in_language(run: Endpoint, served: Served, request: Request) -> Response:
    """An operation over the releases in the language that its address asks for."""
    return run(served.in_language(request.query_params.get("lang", OWN)), request)


def _headless(endpoint: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """The same reply without its content."""

    def head(request: Request) -> Response:
        whole = endpoint(request)
        return Response(status_code=whole.status_code, headers=dict(whole.headers))

    return head


def _refusal(code: int) -> Described:
    told: Described = {"description": REFUSALS[code]["words"], "content": _PROBLEM}
    if code in {429, 503}:
        wait = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
        told["headers"] = {"Retry-After": wait}
    return told


def _in_path(path: str) -> list[Described]:
    names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    text = {"type": "string", "minLength": 1}
    return [{"in": "path", "name": name, "required": True, "schema": text} for name in names]


def inlined(schema: Described) -> Described:
    """A schema with what it refers to written where it is referred to, so that it stands alone."""
    definitions = schema.pop("$defs", {})

    def filled(part: Any) -> Any:
        if isinstance(part, list):
            return [filled(one) for one in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return filled(definitions[part["$ref"].rpartition("/")[2]])
        return {key: filled(value) for key, value in part.items()}

    found: Described = filled(schema)
    return found
