"""The table as JSON-stat 2.0: every number is found by its codes, as the format says, with all of its errors."""

import json
from itertools import product as combinations

import numpy as np
import pytest
from pyjstat import pyjstat
from worlds import TABLE, World, engine_of, subject_of

from sfumato.draws import SeededDraws
from sfumato.mechanisms import Geometric
from sfumato.query import Group
from sfumato.release import Cube, Independent, Withheld
from sfumato.schema import Attribute, Levels, Table

ENGINE = engine_of(World.of(Geometric(1)).cube("jobs", SeededDraws(1)))
AT = {"trade": ["trade0", "trade0-1", Group("Mine", ("trade1", "trade2-0"))]}


@pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")
def test_another_reader_finds_every_number_and_its_errors():
    table = ENGINE.table("trade", "sex", at=AT)
    read = pyjstat.Dataset.read(json.dumps(table.to_jsonstat(), allow_nan=False)).write("dataframe", naming="id")
    for (_, found), (codes, estimate) in zip(read.groupby(["trade", "sex"], sort=False), table.items(), strict=True):
        assert tuple(found.iloc[0][["trade", "sex"]]) == codes
        numbers = dict(zip(found["ContentsCode"], found["value"], strict=True))
        assert numbers["estimate"] == estimate.value
        assert numbers["moe90"] == estimate.moe()
        assert numbers["se_noise"] == estimate.noise_se


def test_labels_children_and_groups_come_from_the_axis():
    said = ENGINE.table("trade", "sex", at=AT).to_jsonstat()["dimension"]["trade"]["category"]
    assert said["label"] == {"trade0": "Trade 0", "trade0-1": "trade0-1", "group:Mine": "Mine"}
    assert said["child"] == {"trade0": ["trade0-1"]}
    assert said["note"] == {"group:Mine": ["Trade 1, trade2-0"]}


def test_a_withheld_error_is_null_with_its_reason():
    cube = Cube(subject_of("jobs"), TABLE, np.full(TABLE.shape, 7), Withheld("it would leak"))
    table = engine_of(cube).table("age", "sex")
    said = table.to_jsonstat()
    assert said["size"] == [4, 3, 1, 5]
    for place, (age, sex) in enumerate(combinations(*(axis.codes for axis in table.axes))):
        assert said["value"][5 * place : 5 * place + 5] == [table[age, sex].value, None, None, 0.0, None]
        assert [said["status"].get(str(5 * place + one)) for one in range(5)] == [
            "-",
            "withheld",
            "withheld",
            None,
            "withheld",
        ]
    assert "An error is withheld: it would leak" in said["note"]


def test_a_variable_named_as_the_metric_dimension_keeps_its_name():
    table = Table((Attribute("ContentsCode", Levels.of("ab")),))
    said = (
        engine_of(Cube(subject_of("jobs"), table, np.array([1, 0]), Independent(1.0)))
        .table("ContentsCode")
        .to_jsonstat()
    )
    assert said["id"] == ["ContentsCode", "period", "ContentsCode_"]
    assert said["status"][str(5 + 4)] == "infinite"
