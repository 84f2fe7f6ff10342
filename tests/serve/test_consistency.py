"""Over HTTP, on a real server: parts add up to the whole and one question has one answer, to the last digit."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.schema import Levels

VARIABLES = ("place", "sex", "age", "trade", "hours")


def numbers(client, table, pairs):
    reply = client.get(f"/api/v2/tables/jobs-survey~{table}/data", params=pairs)
    assert reply.status_code == 200, reply.text
    return reply


def cut(levels: Levels, chosen: random.Random):
    """Disjoint codes that hold every leaf once: somewhere on the way down each branch, the branch is taken whole."""
    children = {code: [one for one in levels.codes if levels.parent(one) == code] for code in levels.codes}

    def down(code):
        if not children[code] or chosen.random() < 0.4:
            return [code]
        return [one for child in children[code] for one in down(child)]

    return [one for root in levels.at(0) for one in down(root)]


def parted(codes, chosen):
    """The codes shuffled and dealt into two or three parts, none empty."""
    codes = chosen.sample(codes, len(codes))
    count = min(len(codes), chosen.choice((2, 3)))
    return [codes[place::count] for place in range(count)]


def universe(engine, chosen, besides):
    """Some random restriction of the other variables."""
    names = chosen.sample([name for name in VARIABLES if name != besides], chosen.randint(0, 2))
    levels = {one.name: one.levels for one in engine.product().attributes}
    return {name: chosen.sample(levels[name].codes, chosen.randint(1, len(levels[name].codes))) for name in names}


def asked(within, shown=None):
    """The parameters of a question, each code in a parameter of its own."""
    pairs = [(f"sum[{name}]", code) for name, codes in within.items() for code in codes]
    return pairs + [(f"valueCodes[{shown}]", "*")] * bool(shown)


def check_split(client, engine, seed):
    """One random split of one variable: its parts, its cells and the whole are the same integer."""
    chosen = random.Random(seed)
    table, name = chosen.choice(("jobs", "pay")), chosen.choice(VARIABLES)
    levels = next(one.levels for one in engine.product().attributes if one.name == name)
    within = universe(engine, chosen, besides=name)
    codes = cut(levels, chosen)
    answer = numbers(client, table, asked(within)).json()["value"]
    parts = [numbers(client, table, asked({**within, name: part})).json()["value"][0] for part in parted(codes, chosen)]
    one_each = [(f"valueCodes[{name}]", code) for code in codes]
    cells = numbers(client, table, asked(within) + one_each).json()["value"][::5]
    assert isinstance(answer[0], int)
    assert sum(parts) == sum(cells) == answer[0] == engine.total(within, of=table).value
    pairs = [*asked({**within, name: codes}), *asked({**within, name: list(levels.at(0))})]
    redundant = numbers(client, table, chosen.sample(pairs, len(pairs)))
    assert redundant.json()["value"] == answer


@pytest.mark.parametrize("splits", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_parts_cells_and_whole_agree_over_many_splits(server, engine, splits):
    with ThreadPoolExecutor(4) as pool:
        for outcome in pool.map(lambda seed: check_split(server, engine, seed), range(splits)):
            assert outcome is None


def test_asking_again_and_otherwise_gives_the_same_bytes(server):
    pairs = [("valueCodes[sex]", "*"), ("codelist[place]", "level1"), ("sum[trade]", "a,b"), ("sum[hours]", "*")]
    chosen = random.Random(1)
    written = {numbers(server, "jobs", chosen.sample(pairs, len(pairs))).content for _ in range(50)}
    assert len(written) == 1
    filtered = numbers(server, "jobs", [*pairs, ("sum[sex]", "male,female"), ("sum[place]", "S,N")])
    assert filtered.content.split(b'"value":')[1] == written.pop().split(b'"value":')[1]


def test_a_part_and_the_rest_add_up(server, engine):
    """A∩B + A∩¬B = A for every code B of every variable."""
    whole = engine.total().value
    for attribute in engine.product().attributes:
        for code in attribute.levels.codes:
            under = attribute.levels.mask(code)
            rest = [leaf for leaf, inside in zip(attribute.levels.leaves, under, strict=True) if not inside]
            part = numbers(server, "jobs", asked({attribute.name: [code]})).json()["value"][0]
            others = numbers(server, "jobs", asked({attribute.name: rest})).json()["value"][0] if rest else 0
            assert part + others == whole
