"""The budget page: what each release took, what is left, and what this server cannot know."""

import pytest
from tests.serve.small import anchored, promised, seen, small

from sfumato.query.accounts import amount
from sfumato.serve.accounts import accounts_of, uncharged
from sfumato.serve.catalogue import Catalogue

EIGHT = {"epsilon": "8"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Epsilon 1, then 1 after 2 that others took, of 8; a rehearsal without a ledger."""
    folder = tmp_path_factory.mktemp("budget")
    return [
        small(folder / "a", period="2025", ledger=anchored({"epsilon": "1"}, EIGHT)),
        small(folder / "b", period="2026", ledger=anchored({"epsilon": "4"}, EIGHT)),
        small(folder / "c", period="2027", rehearsal=True, releasable=False, why="rehearsal"),
    ]


def test_the_account_is_what_the_manifests_say(folders):
    editions = Catalogue.open(folders).editions
    (account,) = accounts_of(editions)
    assert [float(one.own) for one in account.entries] == [1, 1]
    assert [float(one.unseen) for one in account.entries] == [0, 2]
    assert (account.spent.words(), account.left.words()) == ("epsilon 4", "epsilon 4")
    assert [one.release.manifest.period for one in uncharged(editions)] == ["2027"]


def test_the_page_says_who_took_what_and_what_is_not_known_here(folders, browse):
    page = seen(browse(folders), "/budget")
    assert "May be lost epsilon 8 Lost so far epsilon 4 50% Left epsilon 4 50%" in page.text
    assert "which this server does not hold" in page.text
    assert "Asking costs nothing." in page.text
    assert "Without an account No ledger was charged for these" in page.text
    assert "it is never filled up again" in page.text
    rows = page.text.split("Left after it")[1]
    assert rows.index("Firms, 2025") < rows.index("Other releases") < rows.index("Firms, 2026")


def test_nothing_is_said_of_others_where_all_is_shown(folders, browse):
    assert "which this server does not hold" not in seen(browse(folders[:1]), "/budget").text


def test_mu_adds_by_its_squares(tmp_path):
    """0.6 and 0.8 are 1 together (0.36 + 0.64); of 2 the root of 3 is left, told as no more than it is."""
    limit = {"mu": "2"}
    made = [
        small(tmp_path / "a", promise=promised({"mu": "0.6"}), ledger=anchored({"mu": "0.6"}, limit)),
        small(tmp_path / "b", promise=promised({"mu": "0.8"}), ledger=anchored({"mu": "1"}, limit), period="2026"),
    ]
    (account,) = accounts_of(Catalogue.open(made).editions)
    assert [float(one.own) for one in account.entries] == [0.36, 0.64]
    assert not any(one.unseen for one in account.entries)
    assert float(amount(account.left)) == 3


def test_what_is_left_is_rounded_down_and_what_is_lost_up(tmp_path, browse):
    made = small(tmp_path / "a", promise=promised({"mu": "1"}), ledger=anchored({"mu_squared": "2"}, {"mu": "2"}))
    text = seen(browse([made]), "/budget").text
    assert "Lost so far mu 1.4143 50% Left mu 1.4142 50%" in text


def test_a_limit_for_a_year_is_an_account_of_that_year(tmp_path, browse):
    one = anchored({"epsilon": "1"}, EIGHT, per_year=True)
    made = [
        small(tmp_path / "a", created="2025-06-01T00:00:00Z", ledger=one),
        small(tmp_path / "b", created="2026-06-01T00:00:00Z", ledger=one, period="2026"),
    ]
    found = accounts_of(Catalogue.open(made).editions)
    assert sorted((one.year, one.left.words()) for one in found) == [("2025", "epsilon 7"), ("2026", "epsilon 7")]
    assert "This limit is for the year 2026; a new year has a new one." in seen(browse(made), "/budget").text


def test_populations_have_accounts_of_their_own(tmp_path):
    made = [
        small(tmp_path / "a", ledger=anchored({"epsilon": "1"}, EIGHT, "people")),
        small(tmp_path / "b", ledger=anchored({"epsilon": "2"}, EIGHT, "firms"), period="2026"),
    ]
    found = accounts_of(Catalogue.open(made).editions)
    assert [(one.population, sum(line.unseen for line in one.entries)) for one in found] == [
        ("firms", 1),
        ("people", 0),
    ]


def test_a_charge_that_cannot_be_read_is_not_guessed(tmp_path, browse):
    made = small(tmp_path / "a", ledger=anchored({"sigma": "1"}, {"sigma": "2"}))
    text = seen(browse([made]), "/budget").text
    assert "None of the releases here was charged to a ledger." in text
    assert "Without an account" in text


def test_a_release_without_a_bound_is_said_on_the_budget_and_on_every_card_of_its_population(tmp_path, browse):
    lost = promised({"unbounded": "as it is"}, loss_words="unbounded: as it is")
    folders = [
        small(tmp_path / "a", "before", ledger=anchored({"epsilon": "1"}, EIGHT)),
        small(tmp_path / "b", "open", promise=lost, ledger=anchored({"epsilon": "1"}, EIGHT, unbounded=1)),
        small(tmp_path / "c", "after", ledger=anchored({"epsilon": "2"}, EIGHT, unbounded=1)),
        small(tmp_path / "d", "other", ledger=anchored({"epsilon": "1"}, EIGHT, "people")),
    ]
    said = (
        "Releases of this population without a bound on their loss: 1. What is stated as lost counts the others only."
    )
    assert "without a bound" not in seen(browse(folders[:1]), "/budget").text
    site = browse(folders)
    assert seen(site, "/budget").text.count(said) == 1
    assert [said in seen(site, f"/privacy/{name}").text for name in ("before", "open", "after", "other")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert "This release is not formally private." in seen(site, "/privacy/open").text
    told = {one["population"]: one["unbounded"] for one in site.get("/api/v2/budget").json()["populations"]}
    assert told == {"firms": 1, "people": 0}
    csv = site.get("/open~number.csv?rows=size").text
    assert "not formally private" in csv.lower()
