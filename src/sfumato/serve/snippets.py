"""Snippets: how to ask the same again from a terminal, Python or R, and how to cite the answer."""

import json
import re
import shlex
from dataclasses import dataclass

from starlette.requests import Request

from sfumato.query.answer import Placement
from sfumato.serve.catalogue import Sheet
from sfumato.serve.question import Question, data_path, data_query

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")


@dataclass(frozen=True)
class Snippets:
    """The same question for a terminal, for Python and for R; `address` names this very release."""

    address: str
    curl: str
    python: str
    r: str


@dataclass(frozen=True)
class Citation:
    """A release, and the table that was made from it, as text, as BibTeX and as RIS."""

    text: str
    bibtex: str
    ris: str


def snippets(question: Question, server: str, base: str, placement: Placement | None = None) -> Snippets:
    """The snippets of a question to a server such as https://statistics.example."""
    path = server + data_path(question.sheet, base)
    address, table = (f"{path}?{data_query(question, placement, form)}" for form in ("json-stat2", "csv"))
    # -g, as curl would read the brackets of valueCodes[…] as a pattern of its own.
    curl = f"curl -g -o table.csv {shlex.quote(table)}"
    return Snippets(address, curl, _python(table, question), _r(table, question))


def origin(request: Request) -> str:
    """Where a reader reached this server, as far as the request tells it; a host that is no name is not repeated."""
    host = request.headers.get("host", "")
    scheme = request.url.scheme if request.url.scheme in {"http", "https"} else "https"
    return f"{scheme}://{host}" if _HOST.fullmatch(host) else "https://server"


def _python(address: str, question: Question) -> str:
    """Codes are read as texts, as 01 is not 1; each estimate stands beside its errors."""
    return f"""import pandas as pd

url = {_quoted(address)}
codes = dict.fromkeys({_quoted(list(question.shown))}, str)
table = pd.read_csv(url, dtype=codes, keep_default_na=False, na_values={{"moe90": "", "cv": ""}})
print(table[["estimate", "moe90", "grade"]])
assert set(table["release"]) == {{{_quoted(question.sheet.edition.release.id)}}}
"""


def _r(address: str, question: Question) -> str:
    codes = ", ".join(f'{_name(name)} = "character"' for name in question.shown)
    return f"""url <- {_quoted(address)}
table <- read.csv(url, colClasses = c({codes}), na.strings = "", check.names = FALSE, encoding = "UTF-8")
print(table[, c("estimate", "moe90", "grade")])
stopifnot(table$release == {_quoted(question.sheet.edition.release.id)})
"""


def _quoted(value: object) -> str:
    """A text, or a list of texts, as Python and R both read it."""
    return json.dumps(value, ensure_ascii=False)


def _name(name: str) -> str:
    """A name as R takes it, whatever signs it has."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def citation(sheet: Sheet, title: str, server: str, address: str) -> Citation:
    """How to cite a table: its title, the release with its id and hash, and where it was read."""
    release, manifest = sheet.edition.release, sheet.edition.release.manifest
    url = f"{server}{address}"
    period = f", {manifest.period}" if manifest.period else ""
    text = (
        f"{title}. {manifest.title}{period}. Release {sheet.edition.lasting}, issued {manifest.created[:10]}, "
        f"SHA-256 {release.id}. {manifest.promise.loss_words[:1].upper()}{manifest.promise.loss_words[1:]}. {url}"
    )
    return Citation(_with_notices(sheet, text), _bibtex(sheet, title, url), _ris(sheet, title, url))


def _with_notices(sheet: Sheet, text: str) -> str:
    return " ".join([*(notice.sentence for notice in sheet.edition.notices if notice.grave), text])


def _note(sheet: Sheet) -> str:
    return _with_notices(sheet, f"Release {sheet.edition.lasting}, SHA-256 {sheet.edition.release.id}")


def _bibtex(sheet: Sheet, title: str, url: str) -> str:
    manifest = sheet.edition.release.manifest
    key = re.sub(r"[^A-Za-z0-9]+", "-", sheet.edition.lasting).strip("-")
    fields = {
        "title": _tex(title),
        "booktitle": _tex(manifest.title),
        "year": manifest.created[:4],
        "date": manifest.created[:10],
        "version": sheet.edition.release.id,
        "url": url.replace("{", "%7B").replace("}", "%7D"),
        "note": _tex(_note(sheet)),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}\n}}\n"


def _tex(text: str) -> str:
    r"""A text whose signs mean nothing to TeX.

    >>> _tex("Jobs & pay_50%")
    'Jobs \\& pay\\_50\\%'
    """
    spoken = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(spoken.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in " ".join(text.split()))


def _ris(sheet: Sheet, title: str, url: str) -> str:
    manifest = sheet.edition.release.manifest
    lines = [
        ("TY", "DATA"),
        ("TI", title),
        ("T2", manifest.title),
        ("PY", manifest.created[:4]),
        ("DA", manifest.created[:10].replace("-", "/")),
        ("ET", sheet.edition.release.id),
        ("UR", url),
        ("N1", _note(sheet)),
        ("ER", ""),
    ]
    return "".join(f"{name}  - {' '.join(value.split())}\r\n" for name, value in lines)
