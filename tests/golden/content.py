"""What a served reply says apart from its wording: numbers, links and cell values."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import openpyxl
import pyarrow.parquet as pq

IDS = re.compile(r"\b[0-9a-f]{12}\b|\b[0-9a-f]{64}\b")
"""Names of releases and of files by their hash: they follow from numbers that are compared elsewhere."""
NUMBER = re.compile(r"[-−]?\d[\d.,]*")
LINKS = ("href", "src", "action")
GEOMETRY = ("d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "points", "transform")
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])


class PageContent(HTMLParser):
    """Links, fields, shapes and the numbers of the cells of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[str] = []
        self.open_tags: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.facts += [f"{name} {value}" for name, value in attrs if name in LINKS and value]
        self.facts += [f"{tag} {name} {value}" for name, value in attrs if name in GEOMETRY and tag != "svg"]
        if tag in {"input", "option", "select"}:
            self.facts.append(" ".join(f"{name}={value}" for name, value in attrs if name in {"name", "value"}))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag):
        while tag in self.open_tags and self.open_tags.pop() != tag:
            pass

    def handle_data(self, data):
        if "td" in self.open_tags or "text" in self.open_tags:
            self.facts += NUMBER.findall(data)


def page_facts(text: str) -> list[str]:
    """The facts of a page or a picture."""
    parser = PageContent()
    parser.feed(text)
    return parser.facts


def json_facts(value: object, path: str = "") -> Iterator[str]:
    """The names, numbers and codes of a JSON document; texts with a space in them are wording."""
    if isinstance(value, dict):
        for key in value:
            name = "" if " " in key else key
            yield from json_facts(value[key], f"{path}/{name}")
    elif isinstance(value, list):
        for item in value:
            yield from json_facts(item, f"{path}/-")
    elif not isinstance(value, str) or " " not in value:
        yield f"{path} {value}"


def row_facts(rows: object) -> list[str]:
    """The numbers and codes of rows."""
    return [str(value) for row in rows for value in row if value is not None and " " not in str(value)]


def _sheet_facts(content: bytes) -> list[str]:
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    return [fact for sheet in book for fact in row_facts(sheet.iter_rows(values_only=True))]


def facts(kind: str, content: bytes) -> list[str]:
    """The facts of a reply of this content type; an unknown type is refused."""
    match kind.split(";", maxsplit=1)[0]:
        case "text/html" | "image/svg+xml" | "application/xml":
            return page_facts(content.decode())
        case "application/json" | "application/problem+json" | "application/geo+json":
            return list(json_facts(json.loads(content)))
        case "text/csv" | "application/vnd.sdmx.data+csv":
            return row_facts(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
        case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
            return _sheet_facts(content)
        case "application/vnd.apache.parquet" | "application/octet-stream":
            table = pq.read_table(io.BytesIO(content))
            return row_facts(zip(*table.to_pydict().values(), strict=True))
    raise ValueError(f"No facts are known of {kind}.")


def hash_reply(kind: str, content: bytes) -> str:
    """The hash of the facts of a reply, with the names of releases left out."""
    return hashlib.sha256(IDS.sub("id", "\n".join(facts(kind, content))).encode()).hexdigest()
