"""Requests that are short to send and long to answer: each is refused, or costs no more than a table does.

What a request costs is the worker's own CPU clock and the rise of its peak of memory, in a process of its own. The
allowances are wide, as machines differ; what was found took 3 to 86 CPU seconds and up to 2.9 GB.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from bench.dear_requests import Target, bombs, dearest
from bench.requests import asked_server, cost_of

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.geography.parting import SLACK, Border
from sfumato.query import Group
from sfumato.schema.leaf_groups import LeafGroups
from sfumato.serve import expressions
from sfumato.serve.code_list import CodeList
from sfumato.serve.code_pairs import code_pairs
from sfumato.serve.group_bounds import MOST_NAMED, MOST_SUMMED, GroupBounds
from sfumato.serve.pages.link_room import MOST_BYTES, has_room

ALLOWED_SECONDS, ALLOWED_MEGABYTES = 2.5, 100.0
HERE = Target("t", [f"c{at}" for at in range(999)], "m", (0.0, 0.0, 1.0, 1.0), (2_000, 2_000), "http://x")
only_linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are Linux's")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with asked_server(tmp_path_factory.mktemp("bombs"), rows=4_000) as found:
        yield found


@only_linux
@pytest.mark.parametrize("place", range(len([*bombs(HERE)])), ids=[one.what for one in bombs(HERE)])
def test_a_bomb_is_refused_before_it_costs_anything(served, place):
    server, target = served
    request = [*bombs(target)][place]
    cost = cost_of(server, request)
    assert cost.status == request.status == 400
    assert cost.seconds < ALLOWED_SECONDS
    assert cost.megabytes < ALLOWED_MEGABYTES


@only_linux
@pytest.mark.parametrize("place", range(len([*dearest(HERE)])), ids=[f"{o.endpoint}, {o.what}" for o in dearest(HERE)])
def test_the_dearest_request_of_an_endpoint_costs_no_more_than_a_table(served, place):
    server, target = served
    request = [*dearest(target)][place]
    cost_of(server, request)  # what all requests share is made once
    cost = cost_of(server, request)
    assert cost.status == request.status
    if not request.large:
        assert cost.seconds < ALLOWED_SECONDS
        assert cost.megabytes < ALLOWED_MEGABYTES
        assert cost.size < 4_000_000


# The work is counted


def variable(count=1_000):
    return sf.Attribute("place", sf.Levels.of([f"c{place}" for place in range(count)]), label="Place")


def test_groups_are_counted_while_they_are_read():
    place = variable()
    bounds = GroupBounds(place)
    for at in range(MOST_NAMED // 1_000):
        bounds.add(Group(str(at), place.levels.codes))
    with pytest.raises(QueryError, match="name more than 20,000 levels together"):
        bounds.add(Group("one more", ("c1",)))


def test_lowest_levels_under_few_codes_are_counted_too():
    codes = ["top", *({"code": f"c{place}", "parent": "top"} for place in range(1_000))]
    place = sf.Attribute("place", sf.Levels.of(codes), label="Place")
    bounds = GroupBounds(place)
    for at in range(MOST_SUMMED // 1_000):
        bounds.add(Group(str(at), ("top",)))
    with pytest.raises(QueryError, match="too many lowest levels"):
        bounds.add(Group("one more", ("top",)))


def test_a_list_that_is_long_itself_may_be_named_a_few_times():
    place = variable(30_000)
    bounds = GroupBounds(place)
    for at in range(4):
        bounds.add(Group(str(at), place.levels.codes))
    with pytest.raises(QueryError, match="name more than 120,000"):
        bounds.add(Group("one more", place.levels.codes))


def test_a_star_is_read_once_however_often_it_stands_there():
    known = CodeList(variable().levels, "all")
    assert expressions.chosen(known, ["*," * 10_000, *["*"] * 10_000]) == known.codes


def test_patterns_compare_a_bounded_number_of_codes(monkeypatch):
    count = SimpleNamespace(tried=0)
    fits = expressions.fits

    def counted(code, pattern):
        count.tried += 1
        return fits(code, pattern)

    monkeypatch.setattr(expressions, "fits", counted)
    known = CodeList(variable().levels, "all")
    most = expressions.MOST_TRIED // len(known)
    assert expressions.chosen(known, [f"c*{'*' * at}" for at in range(min(most, 190))]) == known.codes
    assert count.tried <= expressions.MOST_TRIED
    with pytest.raises(QueryError, match=r"20,000 expressions were given.*at most 200 are read"):
        expressions.chosen(known, [f"*{at}*" for at in range(20_000)])
    assert count.tried <= expressions.MOST_TRIED


def test_all_codes_stay_a_star_in_addresses_and_some_stay_codes():
    levels = variable(3).levels
    assert code_pairs("sum[place]", levels.codes, levels) == [("sum[place]", "*")]
    assert code_pairs("group[place]", levels.codes, levels, "All:") == [("group[place]", "All:*")]
    assert code_pairs("sum[place]", levels.codes[:2], levels) == [("sum[place]", "c0,c1")]


def test_links_take_a_bounded_part_of_a_page():
    layout = SimpleNamespace(address=lambda: "x" * 5_000)
    most = MOST_BYTES // 5_000
    assert has_room(layout, most)
    assert not has_room(layout, most + 1)


# What is faster gives the same


def crossing(random, corners):
    return Border.of([[tuple(one) for one in random.integers(0, 60, (corners, 2)).tolist()] for _ in range(2)])


def apart(border, points):
    """How far each point is from the nearest edge, edge by edge in plain arithmetic."""
    least = np.full(len(points), np.inf)
    for start, end in zip(border.start, border.end, strict=True):
        along = end - start
        part = np.clip((points - start) @ along / max(float(along @ along), 1e-12), 0, 1)
        least = np.minimum(least, np.hypot(*(points - start - part[:, None] * along).T))
    return least


@pytest.mark.parametrize("seed", range(8))
def test_points_near_a_border_are_those_that_plain_arithmetic_finds(seed):
    random = np.random.default_rng(seed)
    border, points = crossing(random, 3 + 4 * seed), random.uniform(-10, 70, (500, 2))
    distance = apart(border, points)
    clear = abs(distance - SLACK) > 1e-9
    assert (border.far(points) == (distance > SLACK))[clear].all()
    assert 0 < border.far(points).sum() < len(points)


@pytest.mark.parametrize("seed", range(8))
def test_of_a_run_of_neighbours_all_lie_on_the_side_of_the_first(seed):
    random = np.random.default_rng(seed)
    area, mine = crossing(random, 9), crossing(random, 5)
    own, _ = area.steps()
    far = mine.far(own)
    firsts = area.one_of_each_run(far)
    of_run = firsts[np.searchsorted(firsts, np.flatnonzero(far), side="right") - 1]
    assert len(firsts) < far.sum()
    assert (mine.around(own[far]) == mine.around(own[of_run])).all()


def test_what_crowded_groups_share_is_what_sparse_ones_would():
    random = np.random.default_rng(1)
    dense = random.random((40, 60)) < 0.5
    weights = random.integers(0, 1_000, 60).astype(float)
    groups = LeafGroups.of(dense)
    assert groups.times.max() > 8
    expected = [[weights[one & other].sum() for other in dense] for one in dense]
    assert groups.shared(weights).tolist() == expected
