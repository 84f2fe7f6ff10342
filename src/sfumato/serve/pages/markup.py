"""Markup: cells as the page writes them; by hand, as a large table has ten thousand of them."""

from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from sfumato.serve.pages.cell import Cell
from sfumato.serve.pages.look import Look


def figured(one: Cell) -> Markup:
    """A number with its error, its grade and its smear.

    >>> figured(Cell("<3", "", "-", 0, "about 3"))
    Markup('<span class="n">&lt;3</span>')
    """
    return Markup(_figure(one))  # noqa: S704


def cells(ones: Sequence[Cell], look: Look) -> Markup:
    """The cells of one row."""
    return Markup("".join([_cell(one, look) for one in ones]))  # noqa: S704


def _figure(one: Cell) -> str:
    number = f'<span class="n">{escape(one.number)}</span>'
    if one.error:
        grade = escape(one.grade + one.mark)
        number += f' <span class="moe">{escape(one.error)}</span> <span class="grade">{grade}</span>'
    return number + (f'<span class="smear w{one.smear}"></span>' if one.smear else "")


def _cell(one: Cell, look: Look) -> str:
    """A button that opens the cell in detail, or a number that is only there to be read."""
    layer = look.words("cell.noise_spoken", percent=10 * one.noise) if look.noise and one.noise is not None else ""
    chosen = bool(look.cell) and one.code == look.cell
    kind = f"g{one.grade if one.grade in {'A', 'B', 'C'} else 'X'}"
    kind += (f" q{one.noise}" if layer else "") + (" sel" if chosen else "")
    spoken = escape(f"{one.spoken}, {layer}" if layer else one.spoken)
    if not one.code:
        read = f'<span class="v" title="{spoken}">{_figure(one)}<span class="unseen">{spoken}</span></span>'
        return f'<td class="{kind}">{read}</td>'
    more = (f' title="{escape(layer)}"' if layer else "") + (' aria-current="true"' if chosen else "")
    button = f'<button class="v" form="build" name="cell" value="{escape(one.code)}" aria-label="{spoken}"{more}>'
    return f'<td class="{kind}">{button}{_figure(one)}</button></td>'
