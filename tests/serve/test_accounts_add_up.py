"""What was lost is added up from the releases in hand; a rollback, a second ledger or a lost charge shows in red."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serve.small import anchored, promised, seen, small

from sfumato.privacy import Approximate, Concentrated, Gaussian, Sums, in_sequence
from sfumato.release.manifest import digest
from sfumato.serve.accounts import accounts_of
from sfumato.serve.catalogue import Catalogue

THREE = {"epsilon": "3"}
LEDGER, OTHER = "a" * 64, "b" * 64


def release_id(folder):
    return digest((folder / "manifest.json").read_bytes())


def chained(folder, name, number, total, previous=None, ledger=LEDGER, limit=THREE, **said):
    """A release of epsilon 1 in its place of a ledger's chain, after which so much was lost in all."""
    lost = {"epsilon": str(total)}
    anchor = anchored(
        lost,
        limit,
        ledger_id=ledger,
        previous=release_id(previous) if previous else "",
        number=number,
        sums=[lost],
        **said,
    )
    return small(folder / name, name, ledger=anchor)


def account(folders):
    (found,) = accounts_of(Catalogue.open(folders).editions)
    return found


def kinds(found):
    return [one.key.removeprefix("account_") for one in found.problems]


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Three releases of epsilon 1 in a row, of a limit of 3."""
    folder = tmp_path_factory.mktemp("chain")
    one = chained(folder, "one", 1, 1)
    two = chained(folder, "two", 2, 2, one)
    return [one, two, chained(folder, "three", 3, 3, two)]


def test_a_whole_chain_is_sound_and_fills_its_limit(chain):
    found = account(chain)
    assert (kinds(found), found.remarks) == ([], ())
    assert (found.spent, found.left) == (Approximate(3), Approximate(0))
    assert [(line.own, line.unseen, line.missing) for line in found.entries] == [(1, 0, 0)] * 3


def test_five_releases_of_a_ledger_that_was_put_back_each_time_cost_five_and_not_one(tmp_path, browse):
    """The attack: each is charged to the same backup, so each says that 1 of 3 is lost."""
    made = [chained(tmp_path, f"r{place}", 1, 1) for place in range(5)]
    found = account(made)
    assert found.spent == Approximate(5)
    assert kinds(found) == ["fork", "over"]
    site = browse(made)
    page = seen(site, "/budget")
    assert "Lost so far epsilon 5 167%" in page.text
    assert "More was lost than may be: epsilon 5 of epsilon 3." in page.text
    assert len(page.all("alarm")) == len(found.problems)
    (told,) = site.get("/api/v2/budget").json()["populations"]
    assert told["spent"] == {"epsilon": "5"}
    assert [one.english() for one in found.problems] == told["problems"]
    german = seen(site, "/budget?lang=de").text
    assert "Es ging mehr verloren, als zulässig ist: epsilon 5 von epsilon 3." in german


def test_the_card_of_a_release_says_that_its_account_is_broken(tmp_path, chain, browse):
    made = [chained(tmp_path, f"r{place}", 1, 1) for place in range(2)]
    assert len(seen(browse(made), "/privacy/r0").all("alarm")) == len(account(made).problems) > 0
    assert not seen(browse(chain), "/privacy/one").all("alarm")


def test_the_same_attack_shows_in_releases_without_a_chain(tmp_path):
    """Made before there was one: the second says that 1 was lost, where both cost 1."""
    made = [small(tmp_path / name, name, ledger=anchored({"epsilon": "1"}, THREE)) for name in "abcde"]
    found = account(made)
    assert (found.spent, kinds(found)) == (Approximate(5), ["contradiction"] * 4 + ["over"])
    assert [one.key for one in found.remarks] == ["account_unchained"]


def test_honest_releases_without_a_chain_are_only_said_to_have_none(tmp_path):
    losses = ("1", "2", "3")
    made = [small(tmp_path / lost, f"r{lost}", ledger=anchored({"epsilon": lost}, THREE)) for lost in losses]
    found = account(made)
    assert (kinds(found), found.spent) == ([], Approximate(3))
    assert found.remarks[0].values == {"count": 3}


def test_a_ledger_put_back_after_the_first_release_is_a_fork(tmp_path, chain):
    again = chained(tmp_path, "again", 2, 2, chain[0])
    found = account([*chain[:2], again])
    assert (kinds(found), found.spent) == (["fork"], Approximate(3))


def test_a_fork_comes_on_top_of_what_the_chain_adds_up_to(tmp_path, chain):
    """The fifth says that 5 were lost in its chain; the release that left it after the first makes 6."""
    again = chained(tmp_path, "again", 2, 2, chain[0])
    hidden = chained(tmp_path, "hidden", 4, 4, chain[2])
    fifth = chained(tmp_path, "fifth", 5, 5, hidden)
    for shown in ([*chain, again, fifth], [chain[0], chain[1], again, fifth]):
        found = account(shown)
        assert (kinds(found)[0], found.spent) == ("fork", Approximate(6))
        assert sum(line.missing for line in found.entries) == 6 - len(shown)


def test_a_fork_shows_where_the_releases_at_which_it_parted_are_not_here(tmp_path, chain):
    """Both are third; the second releases, of which there were two, are not served."""
    hidden = chained(tmp_path, "hidden", 2, 2, chain[0])
    last = chained(tmp_path, "last", 3, 3, hidden)
    assert "fork" in kinds(account([chain[0], chain[2], last]))
    assert "link" in kinds(account([chain[0], hidden, chain[2]]))
    assert kinds(account([chain[0], hidden, last])) == []


def test_a_release_that_is_not_here_is_counted_as_the_chain_states(chain, browse):
    found = account([chain[0], chain[2]])
    assert (kinds(found), found.spent) == ([], Approximate(3))
    assert [(line.own, line.unseen, line.missing) for line in found.entries] == [(1, 0, 0), (1, 1, 1)]
    text = seen(browse([chain[0], chain[2]]), "/budget").text
    assert "One earlier release is not here; what it cost is counted as the chain states it." in text
    assert [line.missing for line in account(chain[2:]).entries] == [2]
    assert account(chain[2:]).spent == Approximate(3)


def test_a_second_ledger_is_said_and_both_are_added_up(tmp_path, chain):
    second = chained(tmp_path, "second", 1, 1, ledger=OTHER)
    found = account([*chain, second])
    assert (kinds(found), found.spent) == (["ledgers", "over"], Approximate(4))


@pytest.mark.parametrize(
    "spelt",
    [lambda one: f"{one} ", lambda one: f"\u200b{one}", str.upper, lambda one: chr(ord(one[0]) + 0xFEE0) + one[1:]],
)
def test_a_second_ledger_does_not_hide_behind_another_spelling_of_its_population(tmp_path, chain, spelt):
    named = account(chain).population
    population = spelt(named)
    assert population != named
    second = chained(tmp_path, "second", 1, 1, ledger=OTHER, population=population)
    assert kinds(account([*chain, second])) == ["ledgers", "over"]


def test_another_population_has_an_account_of_its_own(tmp_path, chain):
    second = chained(tmp_path, "second", 1, 1, ledger=OTHER, population="others")
    assert [kinds(one) for one in accounts_of(Catalogue.open([*chain, second]).editions)] == [[], []]


def test_other_neighbours_have_an_account_of_their_own(tmp_path, chain):
    """Losses under different neighbours never add, so such a population has a second ledger rightly."""
    hidden = {"neighbours": "replace-one", "unit": "firm"}
    anchor = anchored({"epsilon": "1"}, THREE, ledger_id=OTHER, number=1, sums=[{"epsilon": "1"}])
    other = small(tmp_path / "x", "x", promise=promised({"epsilon": "1"}, hidden=hidden), ledger=anchor)
    found = accounts_of(Catalogue.open([*chain, other]).editions)
    assert [(one.spent.words(), kinds(one)) for one in found] == [("epsilon 3", []), ("epsilon 1", [])]


def test_releases_that_share_a_charge_are_said(tmp_path):
    made = [
        small(tmp_path / name, name, ledger=anchored({"epsilon": lost}, THREE, head="c" * 64))
        for name, lost in (("a", "1"), ("b", "2"))
    ]
    assert kinds(account(made)) == ["head"]


def test_a_charge_that_was_lost_is_a_contradiction(tmp_path, chain):
    """The third release leaves out what the second cost."""
    lost = chained(tmp_path, "lost", 3, 2, chain[1])
    found = account([*chain[:2], lost])
    assert (kinds(found), found.spent) == (["contradiction"], Approximate(3))


def test_limits_that_differ_are_said_and_the_smallest_counts(tmp_path, chain):
    more = chained(tmp_path, "more", 4, 4, chain[2], limit={"epsilon": "9"})
    found = account([*chain, more])
    assert (kinds(found), found.limit) == (["limits", "over"], Approximate(3))


def test_a_chain_goes_on_from_releases_that_have_none(tmp_path):
    old = small(tmp_path / "old", "old", ledger=anchored({"epsilon": "1"}, THREE))
    new = chained(tmp_path, "new", 2, 2, old)
    found = account([old, new])
    assert (kinds(found), found.spent, [line.missing for line in found.entries]) == ([], Approximate(2), [0, 0])
    rolled_back = chained(tmp_path, "first", 1, 1)
    assert "contradiction" in kinds(account([old, rolled_back]))


def test_a_year_has_its_own_sums_and_the_chain_goes_on(tmp_path):
    year = {"per_year": True, "limit": THREE}
    one = chained(tmp_path, "one", 1, 1, year=2025, **year)
    two = chained(tmp_path, "two", 2, 1, one, year=2026, **year)
    found = {one.year: one for one in accounts_of(Catalogue.open([one, two]).editions)}
    assert [(found[name].spent, kinds(found[name])) for name in ("2025", "2026")] == [(Approximate(1), [])] * 2
    again = chained(tmp_path, "again", 2, 1, one, year=2026, **year)
    found = accounts_of(Catalogue.open([one, two, again]).editions)
    assert [one.spent for one in found if one.year == "2026"] == [Approximate(2)]
    assert all("fork" in kinds(one) for one in found)


def test_a_withdrawn_release_stays_counted(chain, tmp_path):
    import shutil

    from sfumato.release import withdraw

    shutil.copytree(chain[0], tmp_path / "one")
    withdraw(tmp_path / "one", "wrong")
    assert account([tmp_path / "one", *chain[1:]]).spent == Approximate(3)


def test_what_is_converted_last_is_counted_exactly_across_a_gap(tmp_path):
    """Three times mu 1 under epsilon and delta: 3 squared, converted once; each alone converted would be far more."""
    limit, seen_loss = Approximate(20, "1e-6"), Gaussian(1)
    made, before = [], ""
    for number in (1, 2, 3):
        tally = Sums.of([seen_loss] * number, limit)
        told = tally.loss(limit)
        lost = {"epsilon": str(told.epsilon), "delta": "1e-6"}
        sums = [{"mu_squared": str(number)}]
        anchor = anchored(
            lost, {"epsilon": "20", "delta": "1e-6"}, ledger_id=LEDGER, previous=before, number=number, sums=sums
        )
        made.append(small(tmp_path / str(number), f"r{number}", promise=promised({"mu": "1"}), ledger=anchor))
        before = release_id(made[-1])
    whole = in_sequence([Gaussian(squared=Fraction(3))], limit)
    for shown in (made, made[1:], made[2:], [made[0], made[2]]):
        assert (kinds(account(shown)), account(shown).spent) == ([], whole)


LOSSES = st.one_of(
    st.builds(Approximate, st.fractions(0, 3), st.sampled_from([Fraction(0), Fraction(1, 10**8)])),
    st.builds(lambda one: Gaussian(squared=one), st.fractions(0, 3)),
    st.builds(Concentrated, st.fractions(0, 3)),
)


@given(st.lists(LOSSES, max_size=5), st.lists(LOSSES, max_size=5))
def test_tallies_add_up_to_what_all_losses_cost_together(some, others):
    limit = Approximate(9, Fraction(1, 10**6))
    tally = Sums.of(some, limit).plus(Sums.of(others, limit))
    assert tally.loss(limit) == in_sequence([*some, *others], limit)
    assert tally.less(Sums.of(others, limit)) == Sums.of(some, limit)


@given(
    st.lists(st.builds(Approximate, st.fractions(0, 3)), max_size=4), st.sampled_from([Gaussian(9), Concentrated(9)])
)
def test_tallies_convert_each_loss_by_itself_under_mu_and_rho(some, limit):
    parts = [Sums.of([one], limit) for one in some]
    together = Sums()
    for one in parts:
        together = together.plus(one)
    assert together.loss(limit) == in_sequence(some, limit)


def test_verify_adds_up_the_accounts_of_releases_from_their_public_files(chain, tmp_path, monkeypatch, capsys):
    from sfumato.cli.main import main

    def verified(*folders):
        beside = [word for one in folders[1:] for word in ("--beside", str(one))]
        monkeypatch.setattr("sys.argv", ["sfumato", "verify", str(folders[0]), *beside])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().out

    assert verified(*chain)[0] == 0
    code, told = verified(*chain[:2], chained(tmp_path, "again", 2, 2, chain[0]))
    assert code == 1
    assert "Problem: Firms" in told
    assert "follow the same one" in told
