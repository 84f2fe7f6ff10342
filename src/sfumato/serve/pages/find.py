"""The page of a search: what was found, each with its number; a form that works without a script leads to it."""

from starlette.requests import Request
from starlette.responses import Response

from sfumato.query.finder import LONGEST, MOST
from sfumato.serve.pages.found import found_lines, in_one
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import Pages


def find(pages: Pages, request: Request) -> Response:
    """What the words of the address may mean."""
    asked = request.query_params.get("q", "").strip()

    def show(look: Look) -> dict[str, object]:
        finds = pages.catalogue.finder.find(asked)
        return {
            "asked": asked[:LONGEST],
            "cut": len(asked) > LONGEST,
            "finds": finds,
            "most": MOST,
            "lines": in_one(found_lines(pages.catalogue, pages.base_path, finds.finds, look)),
        }

    return pages.reply(request, "find.html", pages.catalogue.tag, show, ("q",))
