"""English on German pages: a page is walked as it is read, and function words tell a language that is not marked."""

import re
from html import unescape
from html.parser import HTMLParser

from sfumato.foreign_text import language_of

ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the of and is are were with by for from that this which not it its than they there been has have or as to how "
        "what when where who each between both your you can",
    )
)
"""Words without which no English sentence is written, and none of which is a German word."""
_VOID = {"br", "img", "input", "link", "meta", "hr", "wbr"}
_UNREAD = {"script", "style", "pre", "code", "textarea", "kbd", "samp"}
_TEXT_ALONE = {"title", "option", "desc"}
"""Elements that hold text alone, so that no part of it can be marked."""
_HEARD = ("aria-label", "title", "alt", "placeholder", "data-said", "data-none", "data-all", "data-chosen")


class Read(HTMLParser):
    """The texts of a page that are said to be in its own language; what is marked as another, or as code, is not."""

    def __init__(self, page, lang="de"):
        super().__init__()
        self.lang, self.texts, self.unmarkable, self._open = lang, [], [], []
        self.feed(page)

    @property
    def elsewhere(self):
        return any(away for _, away in self._open)

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        away = (
            said.get("lang", self.lang) != self.lang or tag in _UNREAD or said.get("class") in {"code", "hash", "cited"}
        )
        if not (away or self.elsewhere):
            self.unmarkable += [said[name] for name in _HEARD if said.get(name)]
        if tag not in _VOID:
            self._open.append((tag, away))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, text):
        if text.strip() and not self.elsewhere:
            alone = self._open and self._open[-1][0] in _TEXT_ALONE
            (self.unmarkable if alone else self.texts).append(" ".join(text.split()))


def english(page, untranslated=()):
    """The texts of a German page that hold an English function word; labels may where nothing can mark them."""
    read, found = Read(page), []
    for text in (*read.texts, *read.unmarkable):
        plain = text
        for label in untranslated if text not in read.texts else ():
            plain = plain.replace(label, "")
        if ENGLISH & {*re.findall(r"\w+", plain)}:
            found.append(text)
    return found


def untranslated(catalogue):
    """The labels, titles and sentences of releases that have no words in the language they are told in."""
    releases = [edition.release for edition in catalogue.editions]
    texts = [text for release in releases for text in (release.manifest.title, release.manifest.promise.words)]
    texts += [one.subject.title for release in releases for one in release.products.values()]
    for one in (one for release in releases for one in release.attributes):
        texts += [one.label, *(one.levels.label(code) for code in one.levels.codes)]
    return sorted({text for text in texts if language_of(text)}, key=len, reverse=True)


def inner_links(page):
    """The addresses of other pages, each kind of address once: by its path and the names of its parameters."""
    kinds = {}
    for href in map(unescape, re.findall(r'href="([^"]+)"', page)):
        address = href.split("#")[0]
        apart = ("/static", "/api/", "/files", "/oembed")
        if not address.startswith("/") or address.startswith(apart) or re.search(r"lang=en|/picture\.|\.json", address):
            continue
        kinds.setdefault((address.partition("?")[0], *sorted(re.findall(r"[?&](\w+)", address))), address)
    return kinds


def walked(get, start, most):
    """Every kind of page that can be reached, up to so many, as pairs of an address and a page."""
    known, waiting = set(), [(one, one) for one in start]
    while waiting and most:
        kind, address = waiting.pop(0)
        if kind in known:
            continue
        known.add(kind)
        reply = get(address)
        if "html" not in reply.headers.get("content-type", ""):
            continue
        most -= 1
        yield address, reply.text
        waiting += inner_links(reply.text).items()
