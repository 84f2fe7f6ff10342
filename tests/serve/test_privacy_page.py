"""The privacy card: its curve and its examples are right, its words fit the promise, and nothing on it is inline."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm
from tests.serve.small import NOISE, promised, seen, small

import sfumato as sf
from sfumato.errors import ReleaseError
from sfumato.mechanisms import Typical
from sfumato.privacy import Bounded, ReplaceOne
from sfumato.release import Manifest, SpendLine
from sfumato.release.manifest import NoiseLine
from sfumato.serve.catalogue import Catalogue
from sfumato.serve.pages.promise import Promised, trade_off

POLICY = "default-src 'self'"


def test_the_curve_of_epsilon_is_the_pair_of_lines_of_wasserman_and_zhou():
    for epsilon in (0.1, 1.0, 2.0):
        for level, power in trade_off(sf.Approximate(str(epsilon))):
            assert power == pytest.approx(min(np.exp(epsilon) * level, 1 - np.exp(-epsilon) * (1 - level)), abs=1e-12)


def test_the_curve_of_mu_is_that_of_two_normals():
    for level, power in trade_off(sf.Gaussian("1.2")):
        assert power == pytest.approx(norm.sf(norm.isf(level) - 1.2), abs=1e-9)


def test_the_curve_of_rho_lies_above_what_the_normal_mechanism_really_loses():
    """Normal noise with mu = sqrt(2 rho) is rho-concentrated, so a bound on all such noise cannot lie below it."""
    rho = 0.5
    curve = trade_off(sf.Concentrated(str(rho)))
    assert all(power >= norm.sf(norm.isf(level) - np.sqrt(2 * rho)) - 1e-9 for level, power in curve)
    assert dict(curve)[0.05] == pytest.approx(sf.Concentrated(str(rho)).power(0.05), abs=2e-3)
    assert all(one[1] <= other[1] for one, other in pairwise(curve))


def test_measures_of_one_title_are_told_apart_by_their_names(tmp_path, browse):
    """The card says of which measure two numbers are the example; a title of its own does."""
    made = small(tmp_path / "one")
    (edition,) = Catalogue.open([made]).editions
    manifest, (line,) = edition.release.manifest, edition.release.manifest.products
    assert Promised(edition).called(line) == "Number of firms"
    assert "Say that a cell of Number of firms is truly" in seen(browse([made]), "/privacy/firms").text
    twin, other = line.model_copy(update={"name": "sexes"}), line.model_copy(update={"name": "pay", "title": "Pay"})
    both = manifest.model_copy(update={"products": [line, twin, other]})
    card = Promised(SimpleNamespace(release=SimpleNamespace(manifest=both)))
    assert [card.called(one) for one in both.products] == ["Number of firms (number)", "Number of firms (sexes)", "Pay"]


def test_noise_that_says_nothing_of_itself_has_no_example(tmp_path, browse):
    made = small(tmp_path / "one", mechanism="cauchy (scale 1)", noise=NoiseLine(why="its variance is infinite"))
    text = seen(browse([made]), "/privacy/firms").text
    assert "cauchy (scale 1) epsilon 1 14 its variance is infinite –" in text
    assert "100 or 110" not in text


def test_an_older_release_states_its_errors_and_says_why_nothing_is_drawn(tmp_path, browse):
    text = seen(browse([small(tmp_path / "one", noise=None)]), "/privacy/firms").text
    assert "geometric (epsilon 1) epsilon 1 14 1.4 firms –" in text
    assert "made before releases said what their noise looks like" in text
    assert "100 or 110" not in text


def test_the_facts_of_an_older_release_are_not_added_to_it(tmp_path):
    older, newer = (
        Manifest.from_bytes((small(tmp_path / name, noise=noise) / "manifest.json").read_bytes())
        for name, noise in (("older", None), ("newer", NOISE))
    )
    assert b'"noise"' not in older.to_bytes()
    assert b'"told_apart"' in newer.to_bytes()
    assert (tmp_path / "older" / "manifest.json").read_bytes() == older.to_bytes()


def test_the_bells_are_drawn_of_the_facts_alone(tmp_path, browse):
    """The same mechanism by name, with other facts: other bells."""
    wide = sf.Geometric("0.01").facts(Bounded(1, 1, 1), Typical())
    assert (wide.example.low, wide.example.high) == (1000, pytest.approx(1100))
    page = seen(browse([small(tmp_path / "one", noise=wide)]), "/privacy/firms")
    assert "1,000 or 1,100?" in page.text
    assert "100 or 110" not in page.text
    assert len(pictures(page)) == len(pictures(seen(browse([small(tmp_path / "two")]), "/privacy/firms"))) == 5


def pictures(page):
    return [tag for tag, _ in page.elements if tag == "svg"]


@pytest.fixture(scope="module")
def card(tmp_path_factory, browse):
    return browse([small(tmp_path_factory.mktemp("card") / "one", period="2026")])


def test_the_card_says_whom_it_protects_how_and_at_what_price(card):
    text = seen(card, "/privacy/firms").text
    for words in (
        "14 of 100",
        "Whether any one firm is there.",
        "Two data sets that differ in this and in nothing else are neighbours.",
        "Each row of the data is one firm of its own.",
        "At best 14 times in 100 right, for 5 false alarms in 100.",
        "geometric (epsilon 1) epsilon 1 14 1.4 firms 100 100 or 110",
        "There is one measure, so its loss is the loss of the release: epsilon 1.",
        "Left as it is (published exactly, without noise): How many firms there are. A register tells it.",
        "Several firms at once.",
        "everything published about firms has cost epsilon 1, of epsilon 8 that may be lost",
    ):
        assert words in text, words
    assert "Values further apart" not in text


def test_losses_that_add_and_losses_of_disjoint_parts_are_told_apart(tmp_path):
    both = [SpendLine(measure=one, mechanism="m", loss={"epsilon": "1"}, words="epsilon 1") for one in ("a", "b")]
    for total, word in (("2", "add_approximate"), ("1", "parts")):
        loss = {"epsilon": total}
        made = small(tmp_path / total, spends=both, promise=promised(loss, limit={"epsilon": "2"}))
        assert Promised(Catalogue.open([made]).editions[0]).composed == word


@pytest.mark.parametrize("kind", ["replace-one", "a relation that no page has heard of"])
def test_whom_a_relation_hides_is_said_in_its_own_words_whatever_its_name(tmp_path, browse, kind):
    told = ReplaceOne("firm", fixed=("size",)).words()
    hidden = {"neighbours": kind, "unit": "firm", "fixed": ["size"]}
    made = small(tmp_path / "one", promise=promised({"epsilon": "1"}, hidden=hidden, words=told))
    text = seen(browse([made]), "/privacy/firms").text
    assert f"{told} Two data sets that differ in this and in nothing else are neighbours." in text
    assert "(its size and the number of units are public)" in text


def test_a_release_without_a_guarantee_draws_no_curve(tmp_path, browse):
    lost = promised({"unbounded": "cells were suppressed"}, loss_words="unbounded: cells were suppressed")
    page = seen(browse([small(tmp_path / "one", promise=lost)]), "/privacy/firms")
    assert "It promises nothing to anybody in its data: unbounded: cells were suppressed." in page.text
    assert "of 100 attempts" not in page.text.lower()
    assert "Not formally private: unbounded: cells were suppressed." in page.text


def test_a_loss_that_nobody_can_add_up_is_refused_when_it_is_opened(tmp_path, browse):
    made = small(tmp_path / "one", promise=promised({"epsilon": "3"}))
    path = made / "manifest.json"
    path.write_text(path.read_text().replace('"epsilon": "3"', '"sigma": "3"'))
    with pytest.raises(ReleaseError, match=r"A loss is epsilon .* got sigma"):
        browse([made])


def test_a_wrong_release_answers_with_the_nearest(card):
    assert "did you mean 'firms'" in seen(card, "/privacy/frims", 404).text


def test_the_short_account_leads_to_the_card(card):
    page = seen(card, "/firms~number")
    assert "/privacy/firms" in page.links
    assert "at best 14 times in 100, where a blind guess is right 5 times" in page.text


PAGES = ["/", "/privacy/firms", "/budget", "/series/firms", "/help", "/help?table=firms~number"]


@pytest.mark.parametrize("address", PAGES)
def test_nothing_is_inline_and_every_link_leads_somewhere(card, address):
    reply = card.get(address)
    assert reply.headers["content-security-policy"].startswith(POLICY)
    page = seen(card, address)
    for tag, attributes in page.elements:
        assert tag not in {"style", "iframe", "object", "embed"}
        assert tag != "script" or "src" in attributes
        assert not any(name == "style" or name.startswith("on") for name in attributes)
    for link in page.links:
        assert link.startswith(("/", "#", "?"))
        assert card.get(link if link.startswith("/") else address).status_code == 200, link
    ids = [one["id"] for _, one in page.elements if "id" in one]
    assert len(ids) == len(set(ids))


def test_help_answers_with_the_numbers_of_the_table(card):
    page = seen(card, "/help?table=firms~number")
    # Of one two-sided geometric draw at epsilon 1, 92.7% lie within 2 of 0 and 80.2% within 1; of six, 90.4% within 5.
    assert "a standard error of 1.4 firms: ± 2 by the noise" in page.text
    assert "The total of all 6 cells is 135 ± 5 firms." in page.text
    assert "Everybody was counted, so there is no sampling error." in page.text
    for anchor in ("margin", "negative", "adding", "census", "grade", "withheld"):
        assert f"#{anchor}" in page.links
        assert any(one.get("id") == anchor for _, one in page.elements)
    assert seen(card, "/firms~number").text.count("What does ± mean here?") == 1


def test_numbers_of_a_sample_have_two_kinds_of_error(tmp_path, browse):
    made = small(tmp_path / "one", sampling={"kind": "withheld", "reason": "not published"})
    text = seen(browse([made]), "/help").text
    assert "Why are there two kinds of error?" in text
    assert "Why is there an error on a census?" not in text


def test_the_publishers_threshold_marks_and_never_deletes(tmp_path, browse):
    """Cells of 20 to 25 with a standard error of 1.357 have CVs of 5.4% to 6.8%: a bound of 6% parts them at 22.6."""
    page = seen(browse([small(tmp_path / "one", largest_cv=0.06)]), "/firms~number?rows=size&cols=sex")
    assert [f"{number} ± 2 †" in page.text for number in range(20, 26)] == [True] * 3 + [False] * 3
    assert page.text.count("†") == 4, "three numbers and what the mark means"
    assert "† the publisher holds a number with a CV over 6% for too uncertain" in page.text
    for number in range(20, 26):
        assert f"{number} ±" in page.text
    plain = seen(browse([small(tmp_path / "two", largest_cv=0.3)]), "/firms~number?rows=size&cols=sex")
    assert "†" not in plain.text
    assert "too uncertain to be quoted" not in plain.text


def test_changes_have_verdicts_and_no_grades_so_no_threshold_is_said_of_them(tmp_path, browse):
    made = [small(tmp_path / year, period=year, largest_cv=0.0001) for year in ("2025", "2026")]
    site, said = browse(made), "too uncertain to be quoted by itself"
    assert said in seen(site, "/firms~number?rows=size").text
    assert said not in seen(site, "/firms~number?rows=size&change=last").text
    smears = "The wider the smear"
    assert smears in seen(site, "/firms~number?rows=size").text
    assert smears not in seen(site, "/firms~number?rows=size&noise=on").text


def test_the_card_links_the_certificate_that_lies_beside_a_release(make_release, small_plan, browse):
    from sfumato.confidential.certificate import certify, write_certificate
    from sfumato.draws import SeededDraws

    release = make_release()
    assert "certificate.json" not in browse([release]).get("/privacy/small").text
    write_certificate(certify(small_plan, 2_000, SeededDraws(1)), release, None)
    site = browse([release])
    card = site.get("/privacy/small").text
    assert "What was attacked before" in card
    address = next(part for part in card.split('"') if part.endswith("certificate.json"))
    assert site.get(address).content == (release / "certificate.json").read_bytes()
    assert "Was vorher angegriffen wurde" in site.get("/privacy/small?lang=de").text
