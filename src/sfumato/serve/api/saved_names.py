"""Saved names: the name of a saved query is the query itself, packed in letters that an address takes."""

import base64
import json
import zlib

from starlette.exceptions import HTTPException

from sfumato.errors import QueryError
from sfumato.query.downloads.formats import BY_NAME
from sfumato.query.wording import languages
from sfumato.serve.api.written import wished
from sfumato.serve.shapes import SavedQuery

_KIND = "q1"
"""The kind of name, so that a later kind can be told from it."""
_LONGEST_NAME, _LARGEST_QUERY = 6_000, 65_536


def written(query: SavedQuery) -> str:
    """The name of a query: its text, packed, in letters that an address takes.

    >>> from sfumato.serve.shapes import VariablesSelection
    >>> asked = SavedQuery(table_id="jobs~count", selection=VariablesSelection(selection=[]))
    >>> read(written(asked)) == asked
    True
    """
    content = query.model_dump(by_alias=True, exclude_defaults=True)
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    name = _KIND + base64.urlsafe_b64encode(zlib.compress(text, 9)).decode().rstrip("=")
    if len(name) > _LONGEST_NAME or len(text) > _LARGEST_QUERY:
        raise QueryError(
            f"The query is too long for a name: {len(text):,} characters, {len(name):,} packed; at most "
            f"{_LARGEST_QUERY:,} and {_LONGEST_NAME:,} fit. "
            "Name code lists or expressions like 29* instead of single codes."
        )
    return name


def read(name: str) -> SavedQuery:
    """The query that a name holds."""
    # A name of another kind, or too long for one, is read as an empty one, which is none.
    letters = name[len(_KIND) :] if name.startswith(_KIND) and len(name) <= _LONGEST_NAME else ""
    try:
        packed = base64.b64decode(letters + "=" * (-len(letters) % 4), b"-_", validate=True)
        # A few bytes can unpack to gigabytes, so no more is unpacked than a query may have.
        text = zlib.decompressobj().decompress(packed, _LARGEST_QUERY)
        query = SavedQuery.model_validate_json(text)
        refuse_unknown(query)
    except (ValueError, zlib.error, QueryError):
        raise HTTPException(
            404, "There is no such saved query; the name of one is given by POST to /api/v2/savedqueries."
        ) from None
    return query


def refuse_unknown(query: SavedQuery) -> None:
    """Stop at a language or a format that there is not."""
    for name, value, known in (
        ("language", query.language, list(languages())),
        ("outputFormat", query.output_format, list(BY_NAME)),
    ):
        if value not in known:
            raise QueryError(f"{name} is '{value[:100]}'; known: {', '.join(known)}")
    wished(BY_NAME[query.output_format], query.output_format_params)
