"""Certificates: what was checked and attacked of a plan, signed, found false where noise is short."""

import json
import subprocess
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from tests.cli.test_cli import sfumato

import sfumato as sf
from sfumato.confidential.certificate import certify, package_hash, refuse_unfit_folder, write_certificate
from sfumato.confidential.contract import contract
from sfumato.confidential.contract.rows import corners, small_cells
from sfumato.draws import SeededDraws
from sfumato.errors import PlanError, ReleaseError
from sfumato.mechanisms import Additive, ClippedTotal, Geometric, SquareRoot
from sfumato.mechanisms.exponential_quantile import ExponentialQuantile
from sfumato.mechanisms.noisy_stats import LineSums, NoisyStats
from sfumato.mechanisms.theil_sen import TheilSen
from sfumato.privacy import Bounded, Root, Unsummed
from sfumato.release import open_release, verify
from sfumato.release.certificate import certified, read_certificate
from sfumato.schema import Influence
from sfumato.statistics.fitted import Fitted
from sfumato.statistics.quantile import Quantile

ONE = Bounded(1, 1, 1, 1)


def wrong(found) -> set[str]:
    return {one.check for one in found if one.wrong}


@pytest.fixture(scope="module")
def made(small_plan):
    return certify(small_plan, 2_000, SeededDraws(1))


@pytest.fixture
def keys(tmp_path):
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(private)], check=True)
    subprocess.run(["openssl", "pkey", "-in", str(private), "-pubout", "-out", str(public)], check=True)
    return private, public


def test_a_sound_plan_is_certified(made, small_plan):
    assert made.holds
    assert {name for one in made.contract for name in one.measures} == {one.name for one in small_plan.measures}
    assert {one.measure for one in made.attacks} >= {one.name for one in small_plan.measures}
    assert all(check.check and not check.wrong for check in made.checks)
    assert made.nearest.bound <= made.nearest.claimed
    assert made.code == package_hash()


def test_a_certificate_is_read_again_and_its_signature_is_of_every_byte(made, tmp_path, keys):
    private, public = keys
    write_certificate(made, tmp_path / "one", private)
    found, content = read_certificate(tmp_path / "one")
    assert found.to_bytes() == content
    assert certified(tmp_path / "one", made.plan, public) == (f"signature true. {made.words()}", [])
    for name in ("certificate.json", "certificate.sig", "certificate.html"):
        path = tmp_path / "one" / name
        before = path.read_bytes()
        path.write_bytes(before.replace(b"epsilon", b"Epsilon", 1) if name != "certificate.sig" else before[::-1])
        assert certified(tmp_path / "one", made.plan, public)[1], name
        path.write_bytes(before)
    assert not certified(tmp_path / "one", made.plan, public)[1]


def test_beside_a_release_it_is_verified_with_it(made, make_release):
    release = make_release()
    assert verify(release).certificate == ""
    write_certificate(made, release, None)
    assert made.words() in verify(release).certificate
    assert verify(release).intact
    assert open_release(release).certificate.words() == made.words()


def test_of_another_plan_it_is_no_part_of_a_release(made, make_release):
    release = make_release()
    write_certificate(made.model_copy(update={"plan": "0" * 64}), release, None)
    with pytest.raises(ReleaseError, match="of another plan"):
        open_release(release)


class Short(Geometric):
    """Claims epsilon 1 with the noise of epsilon 2."""

    def law(self, move):
        return Geometric(2).law(move)


class Careless(Geometric):
    """States the law of epsilon 1 and draws that of 1.2."""

    def perturb(self, cells, draws, given=None):
        return Geometric("1.2").perturb(cells, draws, given)


@pytest.mark.parametrize("sparse", [False, True])
def test_short_noise_fails_the_contract_by_its_law_or_by_its_draws(sparse):
    assert wrong(contract(Geometric(1), ONE, Fraction(1), SeededDraws(1), sparse=sparse)) == set()
    assert "claim holds" in wrong(contract(Short(1), ONE, Fraction(1), SeededDraws(1), sparse=sparse))
    careless = wrong(contract(Careless(1), ONE, Fraction(1), SeededDraws(1), sparse=sparse))
    assert {"variance is the stated one", "tails are the law's", "total varies as cells are many"} <= careless


class ShortRoot(SquareRoot):
    def root_law(self, move):
        return SquareRoot(Fraction(self.mu) * Fraction(6, 5)).root_law(move)


class ShortTotal(ClippedTotal):
    def _law(self, scale, move):
        return ClippedTotal(Fraction(self.mu) * Fraction(6, 5))._law(scale, move)


@pytest.mark.parametrize("move", [Root(Fraction(1)), Root(Fraction(1, 2), 4, 16)], ids=["one", "a firm of four"])
def test_short_noise_on_roots_fails_the_contract(move):
    for sound, short in ((SquareRoot("0.7"), ShortRoot("0.7")), (ClippedTotal("0.5"), ShortTotal("0.5"))):
        assert wrong(contract(sound, move, Fraction(1), SeededDraws(1))) == set()
        assert wrong(contract(short, move, Fraction(1), SeededDraws(1))) == {"no neighbour is further"}


LINE = Fitted("y", "x", at="0.25", step="0.01")
HIDDEN, PUBLIC = Unsummed(Bounded(1, 1, 1)), Unsummed(Bounded(2, 2, 2, 1), within=True)
GIVEN_ROWS = {
    "quantile": (ExponentialQuantile(2, 21), HIDDEN, Quantile("pay", "0.25", clip=(0, 100))),
    "quantile, counts public": (ExponentialQuantile(2, 21), PUBLIC, Quantile("pay", "0.25", clip=(0, 100))),
    "median of pairs": (TheilSen(4, candidates=41), HIDDEN, LINE),
    "median of pairs, counts public": (TheilSen(2, least=1), PUBLIC, LINE),
    "widened": (TheilSen(4, "widened", candidates=41), PUBLIC, LINE),
    "smooth": (TheilSen(4, "smooth", least=1), PUBLIC, LINE),
    "sums": (NoisyStats(6), PUBLIC, LINE),
}
THREE_DRAWS = "draws have the stated chances"


@pytest.mark.parametrize("name", GIVEN_ROWS)
def test_mechanisms_that_are_given_rows_are_checked(name):
    mechanism, move, statistic = GIVEN_ROWS[name]
    found = contract(mechanism, move, statistic.step, SeededDraws(1), of=statistic.aggregates)
    assert [one.check for one in found] == [
        "no row is further", THREE_DRAWS, "cells are independent", "calls are independent",
    ]  # fmt: skip
    assert wrong(found) == set()
    assert {one.check for one in found if one.not_made} == ({THREE_DRAWS} if name == "sums" else set())


@pytest.mark.parametrize(("name", "times"), [("quantile", 3), ("quantile, counts public", 3), ("smooth", 20)])
def test_a_choice_that_weighs_too_much_breaks_the_claim_on_some_row(name, times):
    """A smooth median of a few rows has noise over its whole range, and loses much less than it claims."""
    mechanism, move, statistic = GIVEN_ROWS[name]
    steep = replace(mechanism, epsilon=times * mechanism.epsilon)

    class Short(type(mechanism)):
        def chances(self, of, rows, move):
            return steep.chances(of, rows, move)

    short = Short(**{one.name: getattr(mechanism, one.name) for one in fields(mechanism)})
    found = contract(short, move, statistic.step, SeededDraws(1), of=statistic.aggregates)
    assert "no row is further" in wrong(found)
    assert THREE_DRAWS in wrong(found), "and what is drawn is not what is stated"


class HalvedMedian(TheilSen):
    """As if a prediction that is other moved how far off a candidate is by 1, and not by 2."""

    def base(self, move):
        return TheilSen(2 * self.epsilon).base(move)


def test_half_the_noise_of_a_median_of_pairs_is_found_where_counts_are_public():
    """By a listing apart from ours it loses 2.907 of four rows on a grid of three by three, and 2 is claimed."""
    found = contract(HalvedMedian(2, least=1), PUBLIC, LINE.step, SeededDraws(1), of=LINE.aggregates)
    assert wrong(found) == {"no row is further"}
    assert found[0].verdict.startswith("epsilon 2 broken by one row: 2.907")


@pytest.mark.parametrize("name", ["quantile", "quantile, counts public", "median of pairs", "widened"])
def test_all_cells_of_up_to_four_rows_are_held_against_all_their_neighbours(name):
    """Of every cell each row is taken out; where counts are public, each point is put in its place."""
    _, move, statistic = GIVEN_ROWS[name]
    of = next(one for one in statistic.aggregates if isinstance(one, Influence) or getattr(one, "at", None))
    points = corners(of)
    cells = [cell for size in range(1, 5) for cell in combinations_with_replacement(points, size)]
    less = {(cell, cell[:row] + cell[row + 1 :]) for cell in cells for row in range(len(cell))}
    others = {(cell, tuple(sorted((*rest, point)))) for cell, rest in less for point in points}
    wanted = {frozenset(pair) for pair in (others if move.within else less)}
    made = {frozenset(tuple(map(tuple, side.tolist())) for side in pair) for pair in small_cells(of, move)}
    assert made == {pair for pair in wanted if len(pair) == 2}


def test_sums_that_move_further_than_noise_is_scaled_to_are_found(monkeypatch):
    """As if a row moved n Σxy − ΣxΣy by a quarter of what it does."""
    move = property(lambda sums: np.maximum((sums.count - 1) * sums.wide_x * sums.wide_y // 4, 1))
    monkeypatch.setattr(LineSums, "products_move", move)
    mechanism, public, statistic = GIVEN_ROWS["sums"]
    found = contract(mechanism, public, statistic.step, SeededDraws(1), of=statistic.aggregates)
    assert wrong(found) == {"no row is further"}


def test_draws_that_are_used_twice_are_found_where_rows_are_given():
    class Twice(ExponentialQuantile):
        def perturb(self, cells, draws, given=None):
            return super().perturb(cells, SeededDraws(7), given)

    found = contract(Twice(2, 21), HIDDEN, Fraction(1), SeededDraws(1), of=GIVEN_ROWS["quantile"][2].aggregates)
    assert wrong(found) == {"calls are independent"}


def test_what_no_check_is_written_for_says_so():
    class Other(sf.Geometric):
        pass

    (found,) = contract(Other(1), object(), Fraction(1), SeededDraws(1))
    assert found.verdict.startswith("not made: no check is written")
    wide = Geometric(Fraction(1, 10_000))
    assert isinstance(wide, Additive)
    assert {one.check for one in contract(wide, ONE, Fraction(1), SeededDraws(1)) if one.not_made} == {
        "claim holds", "law says what it is",
    }  # fmt: skip


def test_a_claim_that_is_false_is_certified_false(made, tmp_path):
    attack = made.attacks[0].model_copy(update={"bound": made.attacks[0].claimed * 1.01})
    false = made.model_copy(update={"attacks": [attack, *made.attacks[1:]]})
    assert not false.holds
    write_certificate(false, tmp_path / "false", None)
    assert "does not keep its claim" in certified(tmp_path / "false", made.plan, None)[1][0]
    assert "The claim does not hold" in (tmp_path / "false" / "certificate.html").read_text()


def test_the_command_writes_and_verify_reads(make_release, tmp_path, keys):
    release, out = make_release(), tmp_path / "out"
    words = ["audit", release / "plan.toml", "--samples", "2000", "--sign", keys[0], "--certificate"]
    assert "none failed" in sfumato(*words, out).stdout
    assert json.loads(sfumato("verify", out, "--public-key", keys[1], "--json").stdout)["intact"] is True
    assert "holds a certificate already" in sfumato(*words, out, good=False).stderr
    assert "--certificate DIR" in sfumato(*words[:-1], good=False).stderr


def test_a_release_of_another_plan_is_refused_before_anything_is_computed(make_release, small_plan):
    release = make_release()
    refuse_unfit_folder(release, small_plan)
    with pytest.raises(PlanError, match="release of another plan"):
        refuse_unfit_folder(release, replace(small_plan, title="Another"))
