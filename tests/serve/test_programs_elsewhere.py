"""Scripts of pages elsewhere may ask the API of public releases, as browsers allow it by headers (Fetch, 3.2)."""

import pytest

ELSEWHERE = {"Origin": "https://elsewhere.example"}
DATA = "/api/v2/tables/jobs-survey~jobs/data"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v2/tables", 200),
        (DATA, 200),
        (f"{DATA}?valueCodes[place]=nowhere", 400),
        ("/api/v2/tables/none/data", 404),
        ("/openapi.json", 200),
    ],
)
def test_answers_and_refusals_may_be_read_by_any_page(page, address, status):
    reply = page.get(address, headers=ELSEWHERE)
    assert reply.status_code == status
    assert reply.headers.get_list("access-control-allow-origin") == ["*"]
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"
    assert {"ETag", "Retry-After"} <= set(reply.headers["access-control-expose-headers"].split(", "))


def test_what_a_browser_holds_already_may_be_asked_about(page):
    tag = page.get(DATA).headers["etag"]
    reply = page.get(DATA, headers={**ELSEWHERE, "If-None-Match": tag})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (304, "*")


def test_a_browser_that_asks_first_may_send_a_selection(page):
    asked = {**ELSEWHERE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    reply = page.ask("OPTIONS", DATA, headers=asked)
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (204, "*")
    assert "POST" in reply.headers["access-control-allow-methods"]
    assert "Content-Type" in reply.headers["access-control-allow-headers"]
    sent = page.ask("POST", DATA, json={"selection": []}, headers=ELSEWHERE)
    assert (sent.status_code, sent.headers["access-control-allow-origin"]) == (200, "*")


def test_pages_for_people_are_not_opened(page):
    for address in ("/", "/api", "/jobs-survey~jobs"):
        assert "access-control-allow-origin" not in page.get(address, headers=ELSEWHERE).headers
    asked = {**ELSEWHERE, "Access-Control-Request-Method": "GET"}
    assert page.ask("OPTIONS", "/jobs-survey~jobs", headers=asked).status_code == 405


def test_a_release_that_is_not_public_is_read_by_no_page_elsewhere(rehearsal, browse):
    private = browse([rehearsal])
    assert "access-control-allow-origin" not in private.get("/api/v2/tables", headers=ELSEWHERE).headers
    asked = {**ELSEWHERE, "Access-Control-Request-Method": "GET"}
    assert "access-control-allow-origin" not in private.ask("OPTIONS", "/api/v2/tables", headers=asked).headers
