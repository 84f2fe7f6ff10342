"""Take the pictures of docs/query-tool.md anew, of the demo where it is served: python checks/screenshots.py ADDRESS.

Their colours are reduced to keep them small, by Pillow, which nothing else here needs: pip install pillow.
"""

import shutil
import sys
from importlib import import_module
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "screenshots"
JOBS, SURVEY = "/employment~jobs", "/ors~employment"
WIDE, PHONE, COLOURS = (1280, 900), (390, 844), 96
OCCUPATIONS = f"{SURVEY}?rows=occupation&cols=strength"
PICTURES = {
    "home": ("/", WIDE, "light"),
    "table": (OCCUPATIONS, WIDE, "light"),
    "cell": (f"{OCCUPATIONS}&cell=33-0000|heavy", WIDE, "light"),
    "choose": (f"{SURVEY}/pick?rows=occupation&pick=valueCodes[occupation]&find=nurs", WIDE, "light"),
    "compared": (f"{OCCUPATIONS}&cell=33-0000|heavy&hold=31-0000|heavy", WIDE, "light"),
    "chart": (f"{SURVEY}?rows=occupation&view=chart", WIDE, "light"),
    "map": (f"{JOBS}?rows=state&codelist[state]=leaves&view=map", WIDE, "light"),
    "privacy-card": ("/privacy/ors", WIDE, "light"),
    "budget": ("/budget", WIDE, "light"),
    "dark": (f"{OCCUPATIONS}&noise=on", WIDE, "dark"),
    "phone": (OCCUPATIONS, PHONE, "light"),
    "phone-chart": (f"{JOBS}?rows=age&view=chart", PHONE, "dark"),
}
"""Each picture: an address of the demo, the size of the window, and light or dark."""


def take(browser: Browser, origin: str, name: str) -> None:
    address, (width, height), scheme = PICTURES[name]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(f"{origin.rstrip('/')}{address}")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path)
    context.close()
    taken = import_module("PIL.Image").open(path).convert("RGB")
    taken.quantize(COLOURS, dither=0).save(path, optimize=True)


def main(origin: str) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in PICTURES:
            take(browser, origin, name)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
