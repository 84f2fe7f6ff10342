"""A tab of a real browser that keeps a list of whatever should not happen in it."""

import shutil
from functools import cache
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}

# Ways that a payload would take if it ran; each leaves a trace that no policy can hide.
TRAPS = """
window.alert = window.confirm = window.prompt = window.print = (...said) => console.error("ran: " + said);
document.addEventListener("securitypolicyviolation", (one) => console.error("policy: " + one.violatedDirective));
"""

# What is seen must have an edge that is not there without the focus: an outline, or a shadow.
INDICATED = """() => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
    const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight;
    return seen && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


class Tab:
    """A page, where it came from, and what went wrong: errors, dialogs, policy violations, foreign requests."""

    def __init__(self, browser, origin, trapped=False, **options):
        self.origin, self.wrong, self.loads = "{0.scheme}://{0.netloc}/".format(urlsplit(origin)), [], 0
        context = browser.new_context(**{"base_url": origin, "viewport": WIDE, **options})
        if trapped:
            context.add_init_script(TRAPS)
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        context.on("request", self._requested)
        self.page.on("load", self._loaded)
        self.page.on("dialog", self._asked)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", self._said)

    def _loaded(self, _):
        self.loads += 1

    def _requested(self, request):
        if not request.url.startswith((self.origin, "blob:", "data:", "file:", "about:")):
            self.wrong.append(f"foreign request: {request.url}")

    def _asked(self, dialog):
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, line):
        # A page that is refused on purpose is an error to Chromium; whoever asks for one says so with `open(…, 400)`.
        if line.type == "error" and "Failed to load resource: the server responded with a status of" not in line.text:
            self.wrong.append(f"console: {line.text}")

    def open(self, address, status=200):
        reply = self.page.goto(address)
        assert reply.status == status, (address, reply.status)
        return self.page

    def after(self, act):
        """Do something, and wait until another table is shown and said aloud."""
        self.page.evaluate("document.getElementById('said').textContent = ''")
        act()
        # Seen and read at once, as what is said next empties it first.
        told = self.page.wait_for_function("() => document.getElementById('said').textContent.trim()")
        return told.json_value()

    def tab_to(self, selector, back=False, most=80):
        """Press Tab until something has the focus; every stop on the way can be seen, and shows that it has it."""
        for _ in range(most):
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
            assert self.page.evaluate(INDICATED), f"no focus is seen on {self.focused('outerHTML')[:300]}"
            if self.page.evaluate("wanted => document.activeElement.matches(wanted)", selector):
                return
        raise AssertionError(f"{most} presses of the tab key do not reach {selector}")

    def press(self, key):
        self.page.keyboard.press(key)

    def focused(self, what):
        return self.page.evaluate(f"document.activeElement.{what}")

    @property
    def overflow(self):
        """How many pixels the page is wider than the window."""
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def violations(self, preload=True):
        """What axe finds: the rule, and where; of files it may not fetch the style once more."""
        self.page.evaluate(axe())
        asked = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"], "preload": preload}
        found = self.page.evaluate("asked => axe.run(asked)", asked)["violations"]
        return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]


@cache
def axe():
    return AXE_SCRIPT
