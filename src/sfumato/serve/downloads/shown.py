"""Shown: a table as it is laid out, some variables at the side and some above, with totals where they may be summed."""

import math
from dataclasses import dataclass, replace
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.query import Axis
from sfumato.serve.downloads.answer import Answer
from sfumato.serve.downloads.words import texts

_WIDEST = 5_000
"""The most columns that a sheet takes, at three a column of the table; a wider table stands on its side."""


@dataclass(frozen=True)
class Block:
    """One column of the table: its heads, and down its rows the estimates, their margins and their grades."""

    heads: tuple[str, ...]
    estimate: NDArray[Any]
    moe90: NDArray[np.float64]
    grade: NDArray[np.str_]


@dataclass(frozen=True)
class Shown:
    """The variables at the side, the labels of each row, and the columns."""

    stub: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[Block, ...]


def shown(answer: Answer) -> Shown:
    """The table as placed; the totals are asked for, never added up from what is shown."""
    stub, heading = _placed(answer)
    body = _blocks(answer, stub, heading)
    if not answer.sheet.product.subject.additive or not answer.axes:
        return Shown(_labels(stub), _rows(stub), body)
    total = texts(answer.language)["sheet"]["total"]
    beside = _blocks(_over(answer, stub), stub, ()) if heading else ()
    whole = _blocks(_over(answer, ()), (), ()) if heading or stub else ()
    across = _blocks(_over(answer, heading), (), heading)
    foot = (*whole, *across) if heading else across
    named = tuple(replace(block, heads=(total,)) for block in beside)
    columns = tuple(_joined(up, down) for up, down in zip((*named, *body), foot, strict=True)) if stub else body
    last = ((total, *("" for _ in stub[1:])),) if stub else ()
    return Shown(_labels(stub), (*_rows(stub), *last), columns)


def _placed(answer: Answer) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
    axes = {axis.attribute.name: axis for axis in answer.axes}
    above = [name for name in answer.placement.heading if name in axes]
    if math.prod(len(axes[name].codes) for name in above) > _WIDEST:
        above = []
    side = [name for name in (*answer.placement.stub, *axes) if name in axes and name not in above]
    return tuple(axes[name] for name in dict.fromkeys(side)), tuple(axes[name] for name in above)


def _over(answer: Answer, axes: tuple[Axis, ...]) -> Answer:
    """The same answer with only some of its variables laid out."""
    names = [axis.attribute.name for axis in axes]
    kept = {name: codes for name, codes in answer.question.shown.items() if name in names}
    groups = {name: found for name, found in answer.question.groups.items() if name in names}
    return replace(answer, question=replace(answer.question, shown=kept, groups=groups))


def _blocks(answer: Answer, stub: tuple[Axis, ...], heading: tuple[Axis, ...]) -> tuple[Block, ...]:
    """The columns of numbers, turned from the order of the answer into the order of the layout."""
    order = [axis.attribute.name for axis in answer.axes]
    turned = [order.index(axis.attribute.name) for axis in (*stub, *heading)]
    height, width = math.prod(len(axis.codes) for axis in stub), math.prod(len(axis.codes) for axis in heading)

    def laid(numbers: NDArray[Any]) -> NDArray[Any]:
        return numbers.reshape(answer.table.shape).transpose(turned).reshape(height, width)

    numbers = answer.columns
    estimate, moe90, grade = laid(numbers.estimate), laid(numbers.moe90), laid(numbers.grade)
    heads = _rows(heading) or (("",),)
    return tuple(Block(heads[at], estimate[:, at], moe90[:, at], grade[:, at]) for at in range(width))


def _joined(up: Block, down: Block) -> Block:
    estimate = np.concatenate([up.estimate, down.estimate])
    return Block(up.heads, estimate, np.concatenate([up.moe90, down.moe90]), np.concatenate([up.grade, down.grade]))


def _labels(axes: tuple[Axis, ...]) -> tuple[str, ...]:
    return tuple(axis.attribute.label for axis in axes)


def _rows(axes: tuple[Axis, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(combinations(*(axis.labels for axis in axes))) if axes else ((),)
