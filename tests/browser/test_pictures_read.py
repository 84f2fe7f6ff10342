"""Pictures as readers use them: a readout under pointer and focus, the way to the cell, a frame elsewhere."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import quote, unquote

import pytest
from tests.browser.pages import JOBS
from tests.browser.tab import PHONE

DOTS = f"{JOBS}?rows=occupation&view=chart"
MARK = ".wide a.pic-mark[data-name^='Production']"


def test_a_mark_reads_out_its_number_and_leads_to_its_cell(open_tab):
    tab = open_tab()
    page = tab.open(DOTS)
    assert page.locator(".readout").count() == 0
    page.locator(MARK).focus()
    said = page.locator(".readout").inner_text()
    assert re.search(
        r"Production Occupations\n−?[\d,]+ ± [\d,]+, 90% interval −?[\d,]+ to −?[\d,]+, grade [ABC]\n", said
    )
    tab.press("Escape")
    assert page.locator(".readout").count() == 0
    page.hover(MARK)
    box, around = (page.locator(one).bounding_box() for one in (".readout", "figure.picture"))
    assert around["x"] <= box["x"] <= box["x"] + box["width"] <= around["x"] + around["width"]
    page.locator(MARK).press("Enter")
    page.wait_for_selector("#detail")
    assert "cell=51-0000" in page.url
    assert "Production Occupations" in page.locator("#detail").inner_text()


def test_a_picture_is_as_wide_as_its_place(open_tab):
    page = open_tab().open(DOTS)
    drawn, figure = (page.locator(one).first.bounding_box() for one in (".wide > .pic", "figure.picture"))
    assert drawn["width"] >= figure["width"] - 24


@pytest.mark.parametrize("options", [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}])
def test_an_embed_is_without_fault_by_axe(open_tab, options):
    tab = open_tab(**options)
    for address in (f"{JOBS}/embed?rows=occupation", f"{JOBS}/embed?rows=state&codelist[state]=leaves&view=map"):
        tab.open(address)
        assert tab.violations() == []
        assert tab.overflow == 0


@pytest.fixture
def elsewhere():
    """Another site on this machine, which shows what it is told to."""

    class Shown(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<iframe src="{unquote(self.path[1:])}" width="700" height="500"></iframe>'.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Shown) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_an_embed_is_shown_in_a_frame_of_another_site_and_a_page_is_not(chromium, site, elsewhere):
    page, base = chromium.new_page(), str(site.base_url).rstrip("/")
    for address, allowed in ((f"{base}{JOBS}/embed?rows=sex", True), (f"{base}{JOBS}?rows=sex", False)):
        page.goto(f"{elsewhere}{quote(address, safe='')}")
        assert any("female" in frame.evaluate("document.body.innerText") for frame in page.frames[1:]) == allowed
    page.close()
