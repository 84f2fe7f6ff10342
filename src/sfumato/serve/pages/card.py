"""The privacy card: one page a release that says whom it protects, how, at what price, and what it does not protect."""

from collections.abc import Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sfumato.pictures import Caption, Picture, PictureWords, power_curve
from sfumato.pictures.bells import bells
from sfumato.query.wording import Words
from sfumato.release.manifest import ALARM, digest
from sfumato.serve.accounts import account_of
from sfumato.serve.editions import Edition
from sfumato.serve.pages.look import Look
from sfumato.serve.pages.measure_card import density
from sfumato.serve.pages.promise import Promised
from sfumato.serve.pages.site import Pages
from sfumato.serve.reply import edition_of, fresh, unchanged

WIDE, NARROW = 460, 340
"""The widths of a picture: on a phone a wide one would be too small to read."""


def card(pages: Pages, request: Request) -> Response:
    """The privacy card of one release."""
    edition = edition_of(pages.catalogue, request.path_params["release"])
    unbounded = _unbounded(edition, pages.catalogue.editions)
    account, privacy = account_of(edition, pages.catalogue.editions), Promised(edition)
    broken, audited = account.problems if account else (), edition.release.certificate

    def show(look: Look) -> dict[str, Any]:
        curves = [_curve(privacy, look.words, width) for width in (WIDE, NARROW)] if privacy.curve else None
        bells_ = [_seen(privacy, look.words, width) for width in (WIDE, NARROW)] if privacy.example else None
        told = {"edition": edition, "unbounded": unbounded, "broken": broken, "privacy": privacy}
        return {**told, "curve": curves, "seen": bells_}

    said = digest("\n".join(one.english() for one in broken).encode())[:16] if broken else ""
    said += audited.id[:8] if audited else ""
    return pages.reply(request, "card.html", f"{edition.tag}{unbounded or ''}{said}", show)


def certificate(pages: Pages, request: Request) -> Response:
    """What was checked and attacked of the plan of one release, as it was signed."""
    edition = edition_of(pages.catalogue, request.path_params["release"])
    found = edition.release.certificate
    if found is None:
        raise HTTPException(404, "No certificate lies beside this release.")
    return unchanged(request, found.id) or fresh(found.to_bytes(), "application/json", found.id)


def _unbounded(edition: Edition, editions: Sequence[Edition]) -> int:
    """How many releases of the same population have no bound on their loss, as the newest served here says it."""
    own = edition.release.manifest.ledger
    anchors = [one.release.manifest.ledger for one in editions]
    return max((one.unbounded for one in anchors if one and own and one.population == own.population), default=0)


def banner(edition: Edition) -> str:
    """What stands across the pictures of a release that is not to be used as it is."""
    return next((one.called for one in edition.notices if one.grave), "")


def _curve(privacy: Promised, said: Words, width: int) -> Picture:
    at = (ALARM, privacy.told / 100)
    words = PictureWords(
        blind=said("privacy.blind"),
        false_alarm=said("privacy.axis_alarm"),
        power=said(privacy.said("axis_power"), unit=privacy.unit),
        told=said("privacy.curve_told"),
        in_words=said("privacy.in_words"),
    )
    title = said("privacy.curve_title", unit=privacy.unit)
    caption = Caption(title, headed=False, banner=banner(privacy.edition), words=words, figure=said.figure)
    return power_curve(privacy.curve, at, caption, width=width)


def _seen(privacy: Promised, said: Words, width: int) -> Picture:
    shown = privacy.example
    if shown is None or shown.example is None or shown.line is None:
        raise LookupError("No measure has noise that can be drawn.")
    one, other = shown.pair  # type: ignore[misc]
    title = said(privacy.said("seen_title"), one=one, other=other, row=privacy.row)
    axis = said("privacy.seen_axis", unit=shown.line.unit)
    caption = Caption(title, axis, headed=False, banner=banner(privacy.edition), figure=said.figure)
    pair = shown.example.low, shown.example.high
    return bells(pair, density(shown.example), shown.example.cut, caption, width)
