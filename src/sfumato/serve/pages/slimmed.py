"""Slimmed: styles and scripts as readers get them, without the comments that are for whoever reads the source."""

import re

_IN_STYLES = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_IN_SCRIPTS = re.compile(r"^[ \t]*(?://[^\n]*|/\*(?:(?!\*/).)*\*/)[ \t]*\n", re.DOTALL | re.MULTILINE)
"""Comments that have their lines to themselves: what stands beside code may be within a text of it."""


def slimmed(name: str, content: bytes) -> bytes:
    r"""A file without its comments; whatever is no style and no script as it is.

    >>> slimmed("a.js", b'// One.\n/** @type {string}\n */\nconst a = "http://b"; // here\n')
    b'const a = "http://b"; // here\n'
    >>> slimmed("a.css", b"/* One. */\na { top: 0; }\n"), slimmed("a.txt", b"// One.\n")
    (b'a { top: 0; }\n', b'// One.\n')
    """
    comments = {"css": _IN_STYLES, "js": _IN_SCRIPTS}.get(name.rpartition(".")[2])
    return comments.sub("", content.decode()).encode() if comments else content
