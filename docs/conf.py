"""The site of these pages: `make docs` writes it to build/docs. Every warning is an error."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "site"))

project = "Sfumato"
author = "The Sfumato maintainers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "commands"]
exclude_patterns = ["site"]
html_theme = "furo"
html_title = "Sfumato"
html_copy_source = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#7a4a1e", "color-brand-content": "#7a4a1e"},
    "dark_css_variables": {"color-brand-primary": "#d9a066", "color-brand-content": "#d9a066"},
}
default_role = "code"
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"

INCLUDED = re.compile(r"```\{include\} (\S+)\n```")
"""A file of the project that is a page of the site."""
PAGES = {"deploy/README.md": "deploy.md", "CHANGELOG.md": "changes.md"}
"""By which names others link to these, and which pages they are."""
TEXT_AND_TARGET = re.compile(r"\[([^\]]+)\]\((?:\.\./)?((?:src|bench|deploy|tests)/[^)#\s]*|CHANGELOG\.md)\)")
"""A link to a file or folder of the project that is outside the pages."""


def linked(link: re.Match[str]) -> str:
    """A link to a page of the site, or the name of a file: a site is read without the project beside it."""
    text, target = link.groups()
    return f"[{text}]({PAGES[target]})" if target in PAGES else f"{text} (`{target}`)"


def as_page(_app: Sphinx, _page: str, source: list[str]) -> None:
    """The text of a page of the site, with the files that it includes, and links that lead somewhere."""
    whole = INCLUDED.sub(lambda found: (HERE / found[1]).read_text("utf-8"), source[0])
    source[0] = TEXT_AND_TARGET.sub(linked, whole.replace("](docs/", "]("))


def setup(app: Sphinx) -> None:
    app.connect("source-read", as_page)
