"""Canvas: what surrounds every picture (title, keys, source, banner) and how words are fitted into it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sfumato.pictures.look import dressed
from sfumato.pictures.mark import Caption, Mark, PictureWords
from sfumato.pictures.svg import bar, breadth, dot, drawing, escape, line, paper, smear, text

EDGE = 14
"""The margin all round."""
SOURCE_LINES = 6
"""The most lines below a picture that say where its numbers are from."""
Key = tuple[str, str]
"""A swatch drawn about (0, 0), 18 units wide, and its words."""


def fitted(words: str, width: float, lines: int = 2, size: float = 12) -> list[str]:
    """Words broken into lines no wider than a width; what is over ends in an ellipsis.

    >>> fitted("Heavy and tractor-trailer truck drivers", 150)
    ['Heavy and tractor-', 'trailer truck drivers']
    >>> fitted("Heavy and tractor-trailer truck drivers", 90)
    ['Heavy and', 'tractor-trail…']
    """
    broken: list[str] = []
    each = [words[found.start() : found.end()] for found in re.finditer(r"\S+", words)]
    for piece, inside in [piece for word in each for piece in _pieces(word, width, size)]:
        gap = "" if inside or not broken else " "
        if broken and (len(broken) == lines or breadth(broken[-1] + gap + piece, size) <= width):
            broken[-1] += gap + piece
        else:
            broken.append(piece)
    return [line if breadth(line, size) <= width else _cut(line, width, size) for line in broken]


def _pieces(word: str, width: float, size: float) -> list[tuple[str, bool]]:
    """A word as it may be broken: after its hyphens, and anywhere where it is longer than a line."""
    parts = [word[found.start() : found.end()] for found in re.finditer(r"[^-]*-|[^-]+", word)]
    pieces: list[tuple[str, bool]] = []
    for part in parts:
        long = max(1, int(width / (size * 0.6)))
        cut = [part] if breadth(part, size) <= width else [part[at : at + long] for at in range(0, len(part), long)]
        pieces += [(one, bool(pieces)) for one in cut]
    return pieces


def _cut(words: str, width: float, size: float) -> str:
    while words and breadth(words + "…", size) > width:
        words = words[:-1]
    return words[: len(words.rstrip())] + "…"


def stacked(x: float, y: float, lines: Sequence[str], kind: str = "", anchor: str = "start", step: float = 15) -> str:
    """Lines of words under one another, the first at y."""
    return "".join(text(x, y + place * step, words, kind, anchor) for place, words in enumerate(lines))


@dataclass(frozen=True)
class Canvas:
    """A caption laid out at a width: where the picture below its title begins, and the whole once it is drawn."""

    caption: Caption
    width: float

    @property
    def head(self) -> list[str]:
        if not self.caption.headed:
            return []
        return fitted(self.caption.headline or self.caption.title, self.width - 2 * EDGE, lines=3, size=16.5)

    @property
    def under(self) -> list[str]:
        """The title, where a headline stands in its place, and over a picture whose page has said it already."""
        caption = self.caption
        if not (caption.headed and caption.headline) and not (caption.titled and not caption.headed):
            return []
        return fitted(self.caption.title, self.width - 2 * EDGE, lines=3, size=12)

    @property
    def notice(self) -> list[str]:
        """The banner in full, to be read; its letters are bold, and so wider than they are high for their size."""
        return fitted(self.caption.banner, self.width - 2 * EDGE, lines=4, size=13.5) if self.caption.banner else []

    @property
    def top(self) -> float:
        told = 15 * (len(self.under) + len(self.notice))
        return EDGE + 20 * len(self.head) + told + (8 if self.head or self.under or self.notice else 0)

    def closed(self, bottom: float, parts: Sequence[str], told: Sequence[str] = (), *, links: bool = False) -> Markup:
        """The drawing with title, source and banner."""
        source = (
            fitted(self.caption.source, self.width - 2 * EDGE, lines=SOURCE_LINES, size=11)
            if self.caption.source
            else []
        )
        height = bottom + EDGE + 15 * len(source)
        around = [
            paper(self.width, height),
            stacked(EDGE, EDGE + 14, self.head, "head", step=20),
            stacked(EDGE, EDGE + 12 + 20 * len(self.head), self.under, "axis" if self.head else "value"),
            stacked(EDGE, EDGE + 12 + 20 * len(self.head) + 15 * len(self.under), self.notice, "notice"),
            stacked(EDGE, bottom + EDGE, source, "axis"),
        ]
        banner = banner_across(self.caption.banner, self.width, height)
        said = " ".join([self.caption.banner, *told]).strip()
        title = f"{self.caption.headline} {self.caption.title}".strip()
        return drawing(height, title, *around, *parts, banner, told=said, width=self.width, links=links)


def banner_across(words: str, width: float, height: float) -> str:
    """A watermark over the whole picture, once in every 260 units of height; it never stands in a pointer's way.

    Only what a banner says before its colon is drawn so; the reason after it is read above the picture.
    """
    words = words.partition(":")[0].strip()
    if not words:
        return ""
    size = min(44.0, 44 * width * 0.9 / breadth(words, 44))
    turned = -min(18.0, math.degrees(math.atan2(height * 0.6, width)))
    times = max(1, round(height / 260))
    parts = []
    for place in range(times):
        y = height * (place + 0.5) / times
        where = f'transform="translate({width / 2:.1f} {y:.1f}) rotate({turned:.1f})"'
        parts.append(
            f'<text {where} text-anchor="middle" font-size="{size:.1f}"{dressed("banner")}>{escape(words)}</text>'
        )
    return f'<g aria-hidden="true" pointer-events="none">{"".join(parts)}</g>'


def keys_along(keys: Sequence[Key], x: float, y: float, width: float) -> tuple[str, float]:
    """Swatches with their words, one after another and on as many lines as they need; also where they end."""
    parts, at = [], x
    for swatch, words in keys:
        needed = 26 + breadth(words, 11) + 14
        if at > x and at + needed > x + width:
            at, y = x, y + 18
        parts.append(f'<g transform="translate({at + 9:.1f} {y:.1f})">{swatch}</g>')
        parts.append(text(at + 24, y + 4, words, "axis"))
        at += needed
    return "".join(parts), y + (18 if keys else 0)


def error_keys(marks: Sequence[Mark], words: PictureWords, *, bars: bool = False) -> list[Key]:
    """The keys to what is drawn of the errors, only those that occur."""
    keys: list[Key] = []
    stated = [mark for mark in marks if mark.stated]
    shares = [mark.noise_share for mark in stated if mark.noise_share is not None]
    if stated:
        ends = "".join(line(x, -4, x, 4, "whisker") for x in (-9, 9))
        keys.append((line(-9, 0, 9, 0, "whisker") + ends, words.interval))
    if any(share > 0 for share in shares):
        keys.append((smear(-9, 9, 0, 10, "noisy"), words.noise))
    if any(share < 1 for share in shares):
        keys.append((smear(-9, 9, 0, 10, "sampled"), words.sampling))
    if any(mark.doubtful for mark in marks):
        keys.append((bar(-8, -5, 16, 10, "hollow outline") if bars else dot(0, 0, "hollow rim", 4), words.hollow))
    if any(not mark.stated for mark in marks):
        drawn = bar(-8, -5, 16, 10, "hollow outline broken") if bars else dot(0, 0, "hollow rim broken", 4)
        keys.append((drawn, words.withheld))
    return keys
