"""The guide to the query tool: its pictures are there and small, and what it tells a reader to open can be opened."""

import re
from pathlib import Path

GUIDE = Path(__file__).parents[2] / "docs" / "query-tool.md"
TEXT = GUIDE.read_text(encoding="utf-8")
LARGEST = 150_000


def test_every_picture_of_the_guide_is_there_and_small_and_none_is_left_over():
    named = set(re.findall(r"screenshots/([a-z-]+\.png)", TEXT))
    assert {f"{name}.png" for name in ("table", "chart", "map", "cell", "privacy-card", "phone")} <= named
    assert named == {one.name for one in (GUIDE.parent / "screenshots").iterdir()}
    for name in named:
        assert (GUIDE.parent / "screenshots" / name).stat().st_size < LARGEST, name


def test_every_address_in_the_guide_answers(site):
    addresses = re.findall(r"`(/[^`\s]+)`", TEXT)
    assert len(addresses) >= 2
    for address in addresses:
        assert site.get(address).status_code == 200, address
