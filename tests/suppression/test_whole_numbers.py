"""Whole numbers and floors: what everybody knows of counts, beyond what sums of any numbers say."""

import numpy as np
import pytest

from sfumato.confidential.suppress import Contributions, Needs, PrimaryRules, Prior, protect
from sfumato.errors import DataError
from sfumato.suppression import LinkedTables, Nesting, Published, Required, audit, decide

SUMS = (("p", ("x", "y")), ("q", ("y", "z")), ("r", ("x", "z", "w")), ("s", ("w", "u")))
CELLS = {"x": 3, "y": 3, "z": 3, "w": 1, "u": 1, "p": 6, "q": 6, "r": 7, "s": 2}
"""w is r - p - q + 2y = 2y - 5, an odd number, and no more than s = 2: so it is 1, where fractions leave 0 to 2."""


@pytest.fixture
def linked():
    return LinkedTables.of([[Nesting("a", SUMS)]])


def values_of(linked):
    return np.array([float(CELLS[linked.named(cell)["a"]]) for cell in range(linked.size)])


def missing(linked, codes):
    gone = [linked.find({"a": code}) for code in codes]
    values = values_of(linked)
    values[gone] = np.nan
    return values


def only(linked, code, need=1.0):
    asked = np.zeros(linked.size)
    asked[linked.find({"a": code})] = need
    return asked


def test_a_count_that_fractions_leave_open_is_pinned_by_whole_numbers(linked):
    values, cell = missing(linked, "xyzwu"), linked.find({"a": "w"})
    assert audit(Published.of(linked, values)).interval(cell) == (0, 2)
    found = audit(Published.of(linked, values, whole=True))
    assert found.interval(cell) == (1, 1)
    assert cell in {disclosure.cell for disclosure in found.disclosures}


def test_the_decision_finds_what_whole_numbers_pin(linked):
    required = Required(values_of(linked), only(linked, "w"), only(linked, "w"))
    values = missing(linked, "xyzwu")
    assert not decide(Published.of(linked, values), required)
    assert [found.cell for found in decide(Published.of(linked, values, whole=True), required)] == [
        linked.find({"a": "w"})
    ]


def protected(linked, prior, forced=()):
    """A pattern in which w is sensitive, by a unit either way."""
    values = values_of(linked)
    rules = ["given" if need else "" for need in only(linked, "w")]
    asked = Needs(only(linked, "w"), only(linked, "w"), rules)
    cells = Contributions.told(values, np.full(linked.size, 3), np.full((linked.size, 1), np.nan))
    return protect(linked, cells, PrimaryRules(), asked=asked, prior=prior, forced=[{"a": code} for code in forced])


def test_further_cells_protect_what_whole_numbers_pin(linked):
    """Where s must be published the search for all numbers takes x, y, z and u beside w, and 2y - 5 is still odd."""
    size = np.zeros(linked.size)
    whole = Prior(size, size + np.inf, whole=True)
    pattern = protected(linked, whole, "s")
    values = np.where(pattern.suppressed, np.nan, values_of(linked))
    low, high = audit(Published.of(linked, values, whole=True)).interval(linked.find({"a": "w"}))
    assert low <= 0
    assert high >= 2


def test_a_table_that_whole_numbers_give_away_is_refused(linked):
    size = np.zeros(linked.size)
    open_ = protected(linked, Prior(size, size + np.inf), "pqrs")
    assert open_.suppressed[linked.find({"a": "w"})]  # fractions call it safe
    with pytest.raises(DataError, match=r"a w cannot be protected in whole numbers: .* Publish fewer tables"):
        protected(linked, Prior(size, size + np.inf, whole=True), "pqrs")


def ones(values, forced=()):
    """Persons one by one in a table of one attribute and its total."""
    linked = LinkedTables.of([[Nesting.under("a", dict.fromkeys("123456"[: len(values)], ""))]])
    codes = [code for code, count in zip("123456", values, strict=False) for _ in range(count)]
    cells = Contributions.of(linked, {"a": codes}, np.ones(len(codes)))
    prior = Prior.of(cells.totals, cells.counts > 0, 1.0)
    return linked, cells, protect(
        linked, cells, PrimaryRules(3, record=1.0), prior=prior, forced=forced, contributors=False
    )  # fmt: skip


def test_a_count_of_one_is_protected_from_above_as_far_as_enough_persons_go():
    """Empty cells are 0, so 1, 2 and 9 of a total of 12 are [1, 10], [1, 10] and more: 3 are enough."""
    linked, cells, pattern = ones([1, 2, 9])
    found = audit(Published.of(linked, np.where(pattern.suppressed, np.nan, cells.totals), least=1.0, whole=True))
    for code in "12":
        low, high = found.interval(linked.find({"a": code}))
        assert low == 1
        assert high >= 3


def test_counts_whose_total_must_be_published_are_refused_where_it_gives_them_away():
    """Three cells that are not empty and add up to 3 are 1, 1 and 1, whatever is withheld."""
    with pytest.raises(DataError, match="cannot be protected"):
        ones([1, 1, 1], forced=[{}])
    linked, _, pattern = ones([1, 1, 1])
    assert pattern.suppressed[linked.find({})]


def test_a_total_of_cells_that_are_not_empty_is_asked_no_lower_than_they_go():
    """1 and 1 make 2 at least: the total of 2 is protected from above alone, and is not refused."""
    linked, _, pattern = ones([1, 1])
    assert pattern.suppressed.all()
    assert pattern.count("primary") == linked.size
