"""Cell: one number as it is seen and as it is read aloud, always with its error.

Cells are written by hand and not by a template, as a large table has ten thousand of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from sfumato.foreign_text import joined, marked
from sfumato.query import Change, Estimate, Figure, number
from sfumato.query.cell_look import smear_of
from sfumato.query.change import NONE, REAL, UNSAID
from sfumato.query.detail import percent_of_noise
from sfumato.query.digits import Digits
from sfumato.query.estimate import IMPOSSIBLE
from sfumato.query.layout import as_seen, counted_in, percent_seen, signed
from sfumato.release import NoNumber, Withheld
from sfumato.serve.pages.look import Look

MARK = "†"
"""Beside a grade: above the publisher's largest CV, where that is not the bound of grade C anyway."""
SEEN = ("B", "C")
"""The grades that stand beside a number; who hears it hears its grade always."""


@dataclass(frozen=True)
class Cell:
    """A number, its error, its grade, how wide it is smeared (0 to 10), and how much of its error is privacy noise."""

    number: str
    error: str
    grade: str
    smear: int
    spoken: str
    code: str = ""
    negative: bool = False
    noise: float | None = None
    """How many percent of its squared error are privacy noise."""
    percent: str = ""
    """Of a change: the same in percent, its error, and the verdict by its key."""
    percent_error: str = ""
    verdict: str = ""
    scaled: bool = False
    """Whether it is counted in thousands or millions."""
    mark: str = ""
    """What says that the publisher's own rule holds the number for too uncertain."""
    caveat: str = ""
    """What the number leaves out."""


def cell(
    estimate: Figure,
    look: Look,
    code: str = "",
    largest_cv: float | None = None,
    *,
    exact: bool = False,
    scaled: bool = True,
    scale: int | None = None,
) -> Cell:
    """A number as `310 ± 76 B`, or with the error a reader chose; a mark where there is none, which says why.

    It has the digits that its margin leaves it, in thousands or millions where its table is or where that is shorter,
    unless its unit stands beside it; or all where they are wanted. It is read aloud in full.
    """
    words = look.words
    if estimate is IMPOSSIBLE:
        return Cell(IMPOSSIBLE.code, "", "", 0, words("cell.impossible"))
    if isinstance(estimate, NoNumber):
        return Cell(estimate.code, "", "", 0, words("cell.refused", reason=estimate.reason), code)
    if estimate.unit == "share" and estimate.value == 1 and estimate.variance == 0:
        return Cell(words.figure("100%"), "", "", 0, words("cell.whole"), code)
    digits = Digits.of(estimate, exact=exact)
    if isinstance(estimate, Change):
        return _change(estimate, look, code, Digits.seen(estimate, scale) if scaled and not exact else digits)
    percent = digits.percent
    # Showing negative numbers as 0 is for the eye alone and reaches no total and no download.
    seen = max(estimate.value, 0) if look.zero and not percent else estimate.value
    value, said = digits.number(seen), _error(estimate, look, digits)[1]
    short = Digits.seen(estimate, scale) if scaled and not exact else digits
    grade = estimate.grade if estimate.grade != "-" else words("cell.no_grade")
    unit = words("cell.percent") if percent else estimate.unit
    spoken = words("cell.spoken", value=words.figure(value), unit=unit, error=words.figure(said), grade=grade)
    exceeding = exceeds(estimate, largest_cv) and largest_cv != estimate.grades["B"]
    return Cell(
        number=words.figure(short.number(seen) + ("%" if percent else "")) + counted_in(short, words),
        error=words.figure(_error(estimate, look, short)[0]),
        grade=estimate.grade,
        smear=smear_of(estimate),
        spoken=joined(", ", [spoken, *([words("cell.exceeds")] if exceeding else [])]),
        code=code,
        negative=estimate.value < 0,
        noise=percent_of_noise(estimate),
        scaled=bool(short.scale),
        mark=MARK if exceeding else "",
        caveat=estimate.caveats.said(look.language),
    )


def _change(change: Change, look: Look, code: str, digits: Digits) -> Cell:
    """A change with its sign, its error, the percentage and the verdict."""
    words = look.words
    percent, percent_error = percent_seen(change, words, "\u2009")
    return Cell(
        number=signed(as_seen(change, words, digits)[0], change),
        error=words.figure(_error(change, look, digits)[0]),
        grade="",
        smear=smear_of(change),
        spoken=change.sentence().said(words),
        code=code,
        noise=percent_of_noise(change),
        scaled=bool(digits.scale),
        percent=percent,
        percent_error=percent_error,
        verdict=change.verdict(),
        caveat=change.caveats.said(look.language),
    )


def exceeds(estimate: Estimate, largest_cv: float | None) -> bool:
    """Whether a number is less certain than its publisher would quote by itself."""
    return largest_cv is not None and not isinstance(estimate.cv, Withheld) and estimate.cv > largest_cv


def address(codes: Sequence[str]) -> str:
    """The name of a cell in an address: its codes parted by bars; a total has no code.

    >>> address(["29-0000", "a|b", ""])
    '29-0000|a%7Cb|'
    """
    return "|".join(code.replace("%", "%25").replace("|", "%7C") for code in codes)


def codes_of(written: str) -> list[str]:
    """The codes in the name of a cell.

    >>> codes_of("29-0000|a%7Cb|")
    ['29-0000', 'a|b', '']
    """
    return [code.replace("%7C", "|").replace("%25", "%") for code in written.split("|")]


def _error(estimate: Estimate, look: Look, digits: Digits) -> tuple[str, str]:
    """The error in signs and in words."""
    error, reach, words = estimate.se, estimate.moe(0.90), look.words
    if isinstance(reach, Withheld) or (isinstance(error, Withheld) and look.error in {"cv", "se"}):
        return f"± {words('error.withheld')}", words("error.withheld_spoken")
    if look.error == "cv":
        share = words("error.over", share="999%") if float(estimate.cv) > 9.99 else relative(float(estimate.cv))  # type: ignore[arg-type]
        return f"{words('error.cv_sign')} {share}", words("error.cv_spoken", share=share)
    if look.error == "interval95":
        low, high = digits.ends(*estimate.interval(0.95))
        return words("error.between", low=low, high=high), words("error.between_spoken", low=low, high=high)
    if look.error == "se" and not isinstance(error, Withheld):
        shown = digits.error(error)
        return f"{words('error.se_sign')} {shown}", words("error.se_spoken", se=shown)
    margin = digits.margin(reach)
    return f"±\u2009{margin}", words("error.margin_spoken", margin=margin)


def relative(cv: float) -> str:
    """A CV in percent: whole percents from ten on, two digits below, and never as a power of ten.

    >>> [relative(one) for one in (2e-7, 0.0123, 0.164, 0.996, 2.004)]
    ['0.00002%', '1.2%', '16%', '100%', '200%']
    """
    percent = 100 * cv
    if percent >= 9.95:
        return f"{percent:.0f}%"
    digits = f"{float(f'{percent:.2g}'):.9f}".rstrip("0")
    return f"{digits.removesuffix('.')}%"


def tenths(percent: float | None) -> int:
    """How many of ten parts a percentage is drawn as."""
    return round((percent or 0.0) / 10)


def figured(one: Cell, unit: str = "") -> Markup:
    """A number with its error, its grade and its smear, what it counts where that stands beside it, and its caveat.

    >>> figured(Cell("<3", "", "-", 0, "about 3"))
    Markup('<span class="n">&lt;3</span>')
    """
    said = f' <span class="caveat">{marked(one.caveat)}</span>' if one.caveat else ""
    return Markup(_figure(one, unit) + said)  # noqa: S704


def cells(ones: Sequence[Cell], look: Look) -> Markup:
    """The cells of one row."""
    return Markup("".join([_cell(one, look) for one in ones]))  # noqa: S704


def _figure(one: Cell, unit: str = "") -> str:
    number = f'<span class="n">{escape(one.number)}</span>'
    counted = f' <span class="unit">{marked(unit)}</span>' if unit else ""
    if one.verdict:
        sign = {REAL: "●", NONE: "○", UNSAID: "?"}[one.verdict]
        number += f' <span class="moe">{escape(one.error)}</span>{counted}'
        number += f' <span class="sign" aria-hidden="true">{sign}</span>'
        reach = f' <span class="moe">{escape(one.percent_error)}</span>' if one.percent_error else ""
        number += f' <span class="pc">{escape(one.percent)}{reach}</span>' if one.percent else ""
    elif one.error:
        number += f' <span class="moe">{escape(one.error)}</span>'
        grade = escape((one.grade if one.grade in SEEN else "") + one.mark)
        number += f' <span class="grade">{grade}</span>' if grade else ""
    number += "" if one.verdict else counted
    return number + (f'<span class="smear w{one.smear}"></span>' if one.smear else "")


def _cell(one: Cell, look: Look) -> str:
    """A button that opens the cell in detail, or a number that is only there to be read."""
    layer = ""
    if look.noise and one.noise is not None:
        layer = look.words("cell.noise_spoken", percent=look.words.figure(number(one.noise)))
    chosen = bool(look.cell) and one.code == look.cell
    kind = f"v-{one.verdict}" if one.verdict else f"g{one.grade if one.grade in {'A', 'B', 'C'} else 'X'}"
    kind += (f" q{tenths(one.noise)}" if layer else "") + (" sel" if chosen else "")
    said = joined(", ", filter(None, [one.spoken, layer]))
    spoken = escape(said)
    if not one.code:
        read = f'<span class="v" title="{spoken}">{_figure(one)}<span class="unseen">{marked(said)}</span></span>'
        return f'<td class="{kind}">{read}</td>'
    more = (f' title="{escape(layer)}"' if layer else "") + (' aria-current="true"' if chosen else "")
    button = f'<button class="v" form="build" name="cell" value="{escape(one.code)}" aria-label="{spoken}"{more}>'
    return f'<td class="{kind}">{button}{_figure(one)}</button></td>'
