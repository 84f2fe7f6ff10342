"""On every page: nothing is loaded from elsewhere, nothing breaks, nothing moves sideways, and the alarms work."""

import pytest
from tests.browser.pages import PAGES, REFUSED
from tests.browser.tab import PHONE, Tab


def test_every_page_is_quiet_and_none_is_wider_than_a_phone(open_tab):
    tab = open_tab(viewport=PHONE, trapped=True)
    wide = {name: tab.open(address) and tab.overflow for name, address in PAGES.items()}
    assert wide == dict.fromkeys(PAGES, 0)
    for address, status in REFUSED.values():
        tab.open(address, status)
        assert tab.overflow == 0


@pytest.mark.parametrize(
    ("harm", "alarm"),
    [
        ('<img src="http://127.0.0.1:9/x.png">', "foreign request"),
        ("<script>1</script>", "console"),
        ('<p style="color: red">', "console"),
        ("<script type=module src=/static/sfumato.js></script><img src=x onerror=alert(1)>", "console"),
        ("<base href='http://127.0.0.1:9/'>", "console"),
    ],
)
def test_an_alarm_rings_when_a_page_does_harm(chromium, site, harm, alarm):
    tab = Tab(chromium, str(site.base_url), trapped=True)
    page = site.get("/").text.replace("</body>", f"{harm}</body>")
    headers = {"content-type": "text/html", "content-security-policy": "default-src 'self'; base-uri 'none'"}
    tab.page.route("**/harmed", lambda route: route.fulfill(body=page, headers=headers))
    tab.page.goto("/harmed", wait_until="networkidle")
    tab.page.context.close()
    assert any(one.startswith(alarm) for one in tab.wrong), tab.wrong


def test_a_script_that_runs_is_told_and_a_page_that_is_too_wide_is_measured(chromium, site):
    tab = Tab(chromium, str(site.base_url), viewport=PHONE)
    page = "<!doctype html><div style='width: 500px'>wide</div><script>alert('ran')</script>"
    tab.page.route("**/harmed", lambda route: route.fulfill(body=page, headers={"content-type": "text/html"}))
    tab.page.goto("/harmed")
    assert tab.overflow > 100
    assert tab.wrong == ["dialog: ran"]
    tab.page.context.close()
