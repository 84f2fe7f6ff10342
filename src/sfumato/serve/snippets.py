"""Snippets: how to ask the same again from a terminal, Python or R, and how to cite the answer."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato.query.answer import ERRORS, Placement
from sfumato.query.wording import words
from sfumato.serve.editions import Edition
from sfumato.serve.presentation import Presentation
from sfumato.serve.question import Question, data_path, data_query


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


def snippets(
    question: Question,
    server: str,
    base: str,
    placement: Placement | None = None,
    presented: Presentation | None = None,
) -> Snippets:
    """The snippets of a question to a server such as https://statistics.example."""
    path, how = server + data_path(question.sheet, base), presented or Presentation()
    further = how.lasting(question)
    queries = (data_query(question, placement, form, further=further, lasting=True) for form in ("json-stat2", "csv"))
    address, table = (f"{path}?{query}" for query in queries)
    # -g, as curl would read the brackets of valueCodes[…] as a pattern of its own.
    curl = f"curl -g -o table.csv {shlex.quote(table)}"
    columns = ["estimate", *(ERRORS[how.error] or (how.error,)), "verdict" if how.change else "grade"]
    releases = how.figures(question, placement or Placement()).releases
    asked = {"address": table, "names": list(question.shown), "release": " ".join(one.id for one in releases)}
    asked |= {"columns": columns}
    return Snippets(address, curl, *(_TEXTS.get_template(name).render(asked) for name in ("ask.python", "ask.r")))


def _quoted(value: object) -> str:
    """A text, or a list of texts, as Python and R both read it."""
    return json.dumps(value, ensure_ascii=False)


def _name(name: str) -> str:
    """A name as R takes it, whatever signs it has."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def citation(editions: Sequence[Edition], title: str, server: str, address: str, caveat: str = "") -> Citation:
    """How to cite a table: its title, what it leaves out, each release with its id and hash, and where it was read."""
    edition, url = editions[-1], f"{server}{address}"
    key = re.sub(r"[^A-Za-z0-9]+", "-", edition.lasting).strip("-")
    said = {"title": title, "edition": edition, "manifest": edition.release.manifest, "url": url, "key": key}
    said |= {"caveat": caveat, "editions": editions, "words": words(edition.release.language)}
    text, bibtex, ris = (_TEXTS.get_template(f"cite.{kind}").render(said) for kind in ("txt", "bib", "ris"))
    return Citation(text.rstrip("\n"), bibtex, ris.replace("\n", "\r\n"))


def _tex(text: str) -> str:
    r"""A text whose signs mean nothing to TeX.

    >>> _tex("Jobs & pay_50%")
    'Jobs \\& pay\\_50\\%'
    """
    spoken = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(spoken.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in " ".join(text.split()))


_TEXTS = Environment(  # noqa: S701 - these texts are no HTML
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)
_TEXTS.filters |= {"quoted": _quoted, "named": _name, "tex": _tex, "flat": lambda text: " ".join(text.split())}
