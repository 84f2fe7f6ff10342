"""Employers: relations in which one establishment has other jobs; where it is and what it makes is the same in both.

Where cells are by traits of workers, or of some of them, a relation says of every kind of worker how far it goes: the
traits that it names are `weak`. Levels are part of that: kinds told apart more finely are other kinds.
"""

import math
import sys
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from sfumato.errors import PlanError, PromiseError, with_article
from sfumato.privacy.contribution import Contribution
from sfumato.privacy.neighbours.neighbours import DataRule, Neighbours, OneLevel
from sfumato.schema import Attribute, Domain


@dataclass(frozen=True)
class Employers(Neighbours, ABC):
    """One establishment has other jobs; `weak` are the traits of workers by which it keeps its make-up.

    `kinds` are the levels of each trait, which the attributes of a plan tell.
    """

    resolved = frozenset({"kinds"})
    weak: tuple[str, ...] = ()
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def _kind_fields(self, weak: object, kinds: Mapping[str, Sequence[str]] | None) -> dict[str, object]:
        """The two fields as they are held, once they are what they have to be."""
        refuse_unlisted(weak, 'weak is a list of traits of workers, for example weak = ["sex", "age"]')
        if not isinstance(kinds or {}, Mapping):
            raise PlanError("[hidden] kinds are the levels of each weak trait, which a plan's attributes tell.")
        return {"weak": weak, "kinds": {name: tuple(map(str, codes)) for name, codes in (kinds or {}).items()}}

    def among(self, attributes: Sequence[Attribute]) -> Self:
        """The same with the levels of its traits; refused where one of them is no trait of workers."""
        told = {one.name: one for one in attributes if one.name in self.weak}
        for one in told.values():
            if one.of == self.unit:
                raise PlanError(
                    f"[hidden] weak names '{one.name}', which is of the {self.unit} and the same in all neighbours, so "
                    f"that it tells no kinds of workers apart; leave it out, or say in [attributes.{one.name}] of whom "
                    "it is."
                )
        return replace(self, kinds={name: tuple(sorted(one.levels.leaves)) for name, one in sorted(told.items())})

    def no_sums(self, column: str) -> str:
        """Why nothing bounds what jobs sum to, with a clip or without, and what to measure instead."""
        return (
            f"[hidden] {self.kind} bounds how many jobs one {self.unit} has, and not what they sum to, so a total of "
            f"{column} has no price, with a clip or without. Measure counts, for example by bands of {column}. Or give "
            f'the plan a [frame] of {self.unit}s that report {column}, with neighbours = "size-within" and reports = '
            f'["{column}"], or "square-root-within" and beta.'
        )

    def _counted_kinds(self, row: Contribution, domain: Domain) -> int:
        """How many cells of a table by its traits one establishment stands in; refused where nothing bounds them."""
        if self.id is None:
            raise PromiseError(
                f"How many jobs one {self.unit} has is hidden, and nothing says whose they are; give [hidden] id, the "
                "column that names it."
            )
        if row.column is not None:
            raise PromiseError(self.no_sums(row.column))
        for one in (*domain.attributes, *row.among):
            self._refuse_untold(one)
        return self._kinds_in(domain)

    def _kinds_in(self, domain: Domain) -> int:
        """How many kinds of workers a table tells apart."""
        return math.prod(len(one.levels.leaves) for one in domain.attributes if one.of != self.unit)

    def _refuse_untold(self, one: Attribute) -> None:
        """Say so where cells or records are told apart by what the relation says nothing of."""
        if one.of == self.unit or one.name in self.weak:
            return
        listed = ", ".join(f'"{name}"' for name in (*self.weak, one.name))
        raise PromiseError(
            f"'{one.name}' is of {with_article(one.of)}: all new jobs of one {self.unit} may be of one {one.name}, and "
            f"what is promised bounds {self.unit}s as a whole. Promise it for the {one.name} of workers as well, with "
            f'[hidden] weak = [{listed}], or say in [attributes.{one.name}] of = "{self.unit}" if it is.'
        )

    def _tells_fewer(self, other: "Employers") -> bool:
        """Whether each of its kinds of workers is one of another relation, level by level."""
        return all(name in other.weak and self.kinds.get(name) == other.kinds.get(name) for name in self.weak)

    def keeps(self, attributes: Sequence[Attribute]) -> frozenset[str]:
        return frozenset(attribute.name for attribute in attributes if attribute.of == self.unit)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.weak)

    def touches(self, named: frozenset[str]) -> int:
        """One establishment stands in one part told by its own attributes.

        By traits of workers it stands in every part there is, and what they cost adds up.
        """
        return 1 if named else sys.maxsize

    @property
    def truncation(self) -> None:
        return None

    @property
    def together(self) -> None:
        return None

    def rules(self, attributes: Sequence[Attribute]) -> tuple[DataRule, ...]:
        """An establishment is in one place, or it would move in several."""
        return tuple(OneLevel(one) for one in attributes if one.of == self.unit and one.depth is None)

    def exposes(self) -> tuple[str, ...]:
        return ()


def refuse_unlisted(names: object, is_what: str) -> None:
    """Say so where what must be a list of names is none."""
    if not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
        raise PlanError(f"[hidden] {is_what}.")


def listed(names: Sequence[str], called: Mapping[str, str] | None) -> str:
    """Names, or what they are called, as a sentence has them."""
    said = [(called or {}).get(name, name) for name in names]
    return f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]
