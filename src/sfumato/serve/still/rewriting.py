"""Rewriting: a page of the server as a page among files: links lead to files, and what needs a server is left out.

It reads the pages that this package writes, in which no element of these kinds holds another of its kind, and in which
< and > stand in no attribute.
"""

import re
from collections.abc import Callable
from html import escape, unescape

Found = Callable[[str], str | None]
"""From an address to where it lies as a file, as seen from the page; nothing where it is no file of the site."""
BUILDER = re.compile(r'<form class="build".*?</form>', re.DOTALL)
NEEDS_SERVER = re.compile(
    r'<(script|form|button|textarea|select)\b.*?</\1>|<input\b[^>]*>|<link rel="canonical"[^>]*>'
    r'|<details class="own".*?</details>',
    re.DOTALL,
)
CELL = re.compile(r'<button class="v"[^>]*? aria-label="([^"]*)"[^>]*>(.*?)</button>', re.DOTALL)
CALLS = re.compile(r'(<section class="take".*?)<details class="calls">.*?</details>(.*?</section>)', re.DOTALL)
LISTS = re.compile(r'<nav\b.*?</nav>|<p class="(?:act|kinds|tongues)">.*?</p>', re.DOTALL)
LINK = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.DOTALL)
SHEET = re.compile(r'<link rel="(stylesheet|icon)" href="([^"]*)"')
TABLES = "<!-- tables -->"
HREF = re.compile(r'\s*href="([^"]*)"')
CLASS = re.compile(r'class="([^"]*)"')


def rewritten(page: str, found: Found, tables: str) -> str:
    """The page among files; `tables` stands where the server has its form."""
    still = CELL.sub(r'<span class="v" title="\1">\2<span class="unseen">\1</span></span>', page)
    still = NEEDS_SERVER.sub("", CALLS.sub(r"\1\2", BUILDER.sub(TABLES, still)))
    still = SHEET.sub(lambda one: f'<link rel="{one[1]}" href="{escape(found(unescape(one[2])) or "")}"', still)
    lists = [one.span() for one in LISTS.finditer(still)]

    def linked(link: re.Match[str]) -> str:
        listed = any(start < link.start() < end for start, end in lists)
        return _linked(link, found, otherwise="" if listed else _plain(link))

    return LINK.sub(linked, still).replace(TABLES, tables)


def _linked(link: re.Match[str], found: Found, otherwise: str) -> str:
    """A link to a file or within the page; what stands in its place where it leads to neither."""
    href = HREF.search(link[1])
    if href is None or href[1].startswith("#"):
        return link[0]
    target = found(unescape(href[1]))
    if target is None:
        return otherwise
    attributes = HREF.sub("", link[1])
    return f'<a href="{escape(target)}"{attributes}>{link[2]}</a>'


def _plain(link: re.Match[str]) -> str:
    """The words of a link alone; the head of a column no longer sorts by it."""
    marked = CLASS.search(link[1])
    named = marked[1].split() if marked else []
    return f'<span class="{" ".join(one for one in named if one != "sort")}">{link[2]}</span>'
