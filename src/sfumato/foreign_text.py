"""Foreign text: text that knows which of its parts are in another language than what stands around them.

What a release says in its own language alone stays so on a page in another. Such a text is made where it is found that
nobody translated it, and is text like any other wherever it goes. Whoever puts it together with others does so by
`+`, `joined` or `filled`, which keep what each part is in; a page writes it by `marked`, so that it is read as what
it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from string import Formatter
from typing import Any, Self, SupportsIndex

Part = tuple[str, str]
"""Some text, and its language; '' for the one around it."""
_LETTERS = re.compile(r"[^\W\d_]{2}")


class ForeignText(str):
    """Text of which some parts are in another language.

    >>> title = "Zahl nach " + foreign("Size of the firm", "en")
    >>> title, title.parts
    ('Zahl nach Size of the firm', (('Zahl nach ', ''), ('Size of the firm', 'en')))
    >>> title[5:14].parts
    (('nach ', ''), ('Size', 'en'))
    """

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Self:
        kept = list[Part]()
        for words, language in parts:
            if len(kept) > 1 and kept[-2][1] == language and kept[-1][0].isspace():
                kept[-2:] = [
                    (kept[-2][0] + kept[-1][0], language)
                ]  # what stands between two words is of their language
            if kept and kept[-1][1] == language:
                kept[-1] = (kept[-1][0] + words, language)
            elif words:
                kept.append((words, language))
        text = super().__new__(cls, "".join(words for words, _ in kept))
        text.parts = tuple(kept)
        return text

    def __getnewargs__(self) -> tuple[Any]:
        return (self.parts,)

    def __add__(self, other: str) -> str:
        return ForeignText((*self.parts, *parts_of(other)))

    def __radd__(self, other: str) -> str:
        return ForeignText((*parts_of(other), *self.parts))

    def __getitem__(self, place: SupportsIndex | slice) -> str:
        chosen = place if isinstance(place, slice) else slice(place, int(place) + 1 or None)
        start, end, step = chosen.indices(len(self))
        if step != 1:
            return super().__getitem__(place)
        found, at = [], 0
        for words, language in self.parts:
            found.append((words[max(start - at, 0) : max(end - at, 0)], language))
            at += len(words)
        return ForeignText(found)


def foreign(text: str, language: str) -> str:
    """A text in another language than what will stand around it; numbers and signs are of no language.

    >>> type(foreign("Jobs", "en")).__name__, type(foreign("11-2021", "en")).__name__
    ('ForeignText', 'str')
    """
    return ForeignText([(text, language)]) if _LETTERS.search(text) else text


def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of any text."""
    return text.parts if isinstance(text, ForeignText) else ((text, ""),)


def language_of(text: str) -> str:
    """The language of a text that is wholly in another than what stands around it; '' of any other."""
    languages = {language for _, language in parts_of(text)}
    return languages.pop() if len(languages) == 1 else ""


def capitalized(text: str) -> str:
    """A text with a capital at its start, the rest as it is.

    >>> capitalized("euro je Betrieb"), capitalized(foreign("jobs in the USA", "en")).parts
    ('Euro je Betrieb', (('Jobs in the USA', 'en'),))
    """
    (first, language), *rest = parts_of(text) or (("", ""),)
    start = first[:1].upper() + first[1:]
    return ForeignText([(start, language), *rest]) if isinstance(text, ForeignText) else start


def without_stop(text: str) -> str:
    """A text without the full stop that it may end in.

    >>> without_stop("No number."), without_stop("No number")
    ('No number', 'No number')
    """
    return text[: len(text.rstrip("."))]


def joined(between: str, texts: Iterable[str]) -> str:
    """Texts one after the other with something between them, each in its language.

    >>> joined(", ", ["Klein", foreign("Large", "en")]).parts
    (('Klein, ', ''), ('Large', 'en'))
    """
    listed = list(texts)
    if not any(isinstance(one, ForeignText) for one in listed):
        return between.join(listed)
    return ForeignText(
        part for at, one in enumerate(listed) for part in (*parts_of(between if at else ""), *parts_of(one))
    )


def filled(form: str, values: Mapping[str, Any]) -> str:
    """A text with its places filled in, each in the language of what stands there.

    >>> filled("nach {what}", {"what": foreign("Size", "en")}).parts
    (('nach ', ''), ('Size', 'en'))
    """
    if not any(isinstance(one, ForeignText) for one in values.values()):
        return form.format(**values)
    parts = list[Part]()
    for words, name, how, _ in Formatter().parse(form):
        parts.append((words, ""))
        if name is not None:
            value = values[name]
            parts += value.parts if isinstance(value, ForeignText) else [(format(value, how or ""), "")]
    return ForeignText(parts)


def marked(text: str, element: str = "span", escaped: Callable[[str], str] = escape) -> str:
    """A text as it stands in a page, every part that is in another language within an element that says so.

    >>> marked("nach " + foreign("Size & <sex>", "en"))
    'nach <span lang="en">Size &amp; &lt;sex&gt;</span>'
    """
    return "".join(
        f'<{element} lang="{escape(language)}">{escaped(words)}</{element}>' if language else escaped(words)
        for words, language in parts_of(text)
    )
