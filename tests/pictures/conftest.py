"""Marks with chosen errors, and a reader for the drawings made of them."""

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import pytest

from sfumato.pictures import Caption, Mark, Picture

SPACE = "{http://www.w3.org/2000/svg}"


@dataclass
class Drawn:
    """A drawing as an XML parser that is not ours reads it."""

    picture: Picture
    root: ET.Element = field(init=False)

    def __post_init__(self):
        self.root = ET.fromstring(self.picture.to_svg())

    def all(self, tag: str, kind: str = "") -> list[ET.Element]:
        wanted = {f"pic-{name}" for name in kind.split()}
        return [one for one in self.root.iter(SPACE + tag) if wanted <= set(one.get("class", "").split())]

    def texts(self) -> list[str]:
        return [one.text or "" for one in self.root.iter(SPACE + "text")]

    def marks(self) -> dict[str, ET.Element]:
        """The groups by what they say when pointed at."""
        groups = [one for tag in ("g", "a") for one in self.all(tag, "mark")]
        return {one.find(SPACE + "title").text: one for one in groups}

    def frame(self) -> tuple[float, float]:
        width, height = self.root.get("viewBox").split()[2:]
        return float(width), float(height)


def places(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", text)]


@pytest.fixture
def caption():
    return Caption("Jobs by occupation", "jobs")


def mark(label: str, value: float, reach: float | None, grade: str = "A", **rest) -> Mark:
    ends = (None, None) if reach is None else (value - reach, value + reach)
    return Mark(label, value, *ends, grade, **rest)
