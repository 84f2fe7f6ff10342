"""Help: short answers to what readers ask of a number, with the numbers of the table they are looking at."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sfumato.foreign_text import joined
from sfumato.query import Estimate, Figure, number
from sfumato.query.digits import Digits
from sfumato.query.wording import Words, grade_bounds
from sfumato.release import NoNumber, stated
from sfumato.serve.editions import Sheet
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.site import Pages
from sfumato.serve.pages.whole import change_view, total_view, whole_of

QUESTIONS = ("margin", "negative", "adding", "census", "grade", "withheld", "differ", "changed", "again")
"""In the order in which they are answered; each is also the anchor of its answer."""
OF_TRUE_NUMBERS = ("withheld", "margin", "adding")
"""What is asked where numbers are withheld in place of noise."""


@dataclass(frozen=True)
class HelpEntry:
    """A question, its answer, and what it means for the table at hand."""

    anchor: str
    question: str
    words: str
    here: str = ""


@lru_cache(maxsize=1_000)
def answers(sheet: Sheet, lang: str) -> tuple[HelpEntry, ...]:
    """What readers ask, answered for one table."""
    said = Look(lang=lang).words
    exact = sheet.product.exact
    kinds = dict.fromkeys(OF_TRUE_NUMBERS, "_exact") if exact else _forms(sheet)
    here = {} if exact else _here(sheet, said)
    alone = {"changed"} if not sheet.time or len(sheet.timeline.periods) == 1 else set()
    asked = [one for one in (OF_TRUE_NUMBERS if exact else QUESTIONS) if one not in alone]
    keys = {one: f"help.{one}{kinds.get(one, '')}" for one in asked}
    return tuple(HelpEntry(one, said(key), said(f"{key}_words"), here.get(one, "")) for one, key in keys.items())


def _forms(sheet: Sheet) -> dict[str, str]:
    """Which answers have another form for a table, and which."""
    census = sheet.edition.release.manifest.sampling["kind"] == "census"
    adding, withheld = "" if sheet.product.subject.additive else "_not", "_tables" if sheet.product.together else ""
    return {"adding": adding, "census": "" if census else "_sample", "withheld": withheld}


def _here(sheet: Sheet, said: Words) -> dict[str, str]:
    """What answers mean for the table at hand."""
    changed = change_view(sheet, Look(lang=said.code))
    found = {"margin": _margin_here(sheet, said), "grade": _grades_here(sheet, said)}
    return found | {
        "negative": _negative(sheet, said),
        "changed": said("text.in_all", said=changed[1]) if changed else "",
    }


def help_page(pages: Pages, request: Request) -> Response:
    """The answers on a page of their own, for the table that the address names or for the first one."""
    first = pages.catalogue.all_series[0].current.sheets[0]
    sheet = pages.catalogue.tables.get(request.query_params.get("table", ""), first)
    shown = {"sheet": sheet, "edition": sheet.edition}
    each = (series.current.sheets[0] for series in pages.catalogue.all_series if series.current.sheets)
    others = [one for one in each if one.product.exact != sheet.product.exact]

    def show(look: Look) -> dict[str, Any]:
        told = {"answers": answers(sheet, look.language), "total": total_view(sheet, look)}
        return {**shown, **told, "others": others}

    return pages.reply(request, "guide.html", f"{sheet.edition.tag}-{pages.catalogue.tag}", show, known=("table",))


def _noise(sheet: Sheet) -> tuple[float, float] | None:
    """The standard error and the margin that noise gave one cell; none where it is withheld or cannot exist."""
    found = _one_cell(sheet)
    if not isinstance(found, Estimate) or found.cells != 1:
        return None
    error, margin = stated(found.noise_se), stated(found.by_noise.moe(0.90))
    return None if error is None or margin is None else (error, margin)


def _one_cell(sheet: Sheet) -> Figure:
    """One of the finest cells, by all variables or by as many as are together in a table."""
    held: dict[str, str] = {}
    found = whole_of(sheet, {one.name: one.levels.leaves[0] for one in sheet.product.attributes})
    for one in sheet.product.attributes if isinstance(found, NoNumber) and sheet.product.together else ():
        tried = held | {one.name: one.levels.leaves[0]}
        if isinstance(cell := whole_of(sheet, tried), Estimate):
            held, found = tried, cell
    return found


def _margin_here(sheet: Sheet, said: Words) -> str:
    """The noise of one cell and, where numbers may be summed, the error of the whole."""
    noise, unit = _noise(sheet), sheet.product.subject.unit
    if noise is None:
        return ""
    error, margin = said.figure(number(noise[0])), said.figure(number(noise[1], math.ceil))
    one = said("help.margin_here", se=error, unit=unit, margin=margin)
    if not sheet.product.subject.additive:
        return one
    whole = whole_of(sheet)
    reach = stated(whole.moe(0.90)) if isinstance(whole, Estimate) else None
    if not isinstance(whole, Estimate) or reach is None:
        return one
    digits = Digits.of(whole)
    figures = {"value": digits.number(whole.value), "margin": digits.margin(reach), "cells": f"{whole.cells:,}"}
    key = "help.whole_here" if sheet.product.noise_of_its_own else "help.whole_here_tables"
    return joined(" ", [one, said(key, unit=unit, **{name: said.figure(one) for name, one in figures.items()})])


def _grades_here(sheet: Sheet, said: Words) -> str:
    grades = sheet.edition.release.manifest.grades
    return said("help.grade_here", **grade_bounds(grades, said))


def _negative(sheet: Sheet, said: Words) -> str:
    noise = _noise(sheet)
    if not noise or not noise[0]:
        return ""
    return said("help.negative_here", se=said.figure(number(noise[0])), unit=sheet.product.subject.unit)
