"""Rehearsal: what other budgets buy, by seeded draws on the true cells; loss and utility are chosen together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product as combinations

from sfumato.calibrate import calibrated
from sfumato.confidential.assessment.comparisons import Compared, Numbers, ReportRules, mean, pooled
from sfumato.confidential.assessment.honesty import honesty
from sfumato.confidential.assessment.means import have_both, mean_table, means_of
from sfumato.confidential.assessment.pairs import Pair, looked_at, released
from sfumato.confidential.assessment.sweep import Sweep, loss_words, rescaled, shared
from sfumato.confidential.assessment.utility import differences, grade_a
from sfumato.draws import Draws, SeededDraws
from sfumato.errors import PlanError, PromiseError
from sfumato.mechanisms import Cells
from sfumato.plan import Measure, Plan
from sfumato.privacy import Loss
from sfumato.release import Product, Release, measured

STATED = 200
"""The cells of a table whose stated errors are worked out in each draw, where each takes an equation of its own."""
Products = dict[str, Product]


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal:
    """What every draw starts from: the true cells, the names of the products, and the pairs to compare with."""

    release: Release
    cells: Mapping[str, Cells]
    pairs: Sequence[Pair]
    rules: ReportRules

    def points(self, plan: Plan, sweep: Sweep) -> Iterator[Numbers]:
        """Every budget of a sweep: its loss, what an attacker gains, what utility it buys; or why it has no promise."""
        for share, cap, total in combinations(sweep.controls or (None,), sweep.caps or (None,), sweep.totals):
            part = None if share is None else float(share)
            asked = {"total": float(total), "cap": cap, "controls": part}
            try:
                tried, priced = rescaled(shared(plan, share), total, cap)
            except (PromiseError, PlanError) as error:
                nothing = {"power": 1.0, "right_guess": 1.0, "utilities": [], "diverged": 0}
                yield {**asked, "words": "no promise", "refused": str(error), **nothing}
                continue
            words = loss_words(priced.total, plan.limit) + (
                f", {part:.0%} of it on controls" if part is not None else ""
            )
            yield {**asked, "words": words, "refused": "", **self._bought(tried, priced.total, sweep.draws)}

    def _bought(self, plan: Plan, loss: Loss, draws: int) -> Numbers:
        """What a budget buys, by draws that are seeded 1, 2, … and never leave this process."""
        drawn = [self._drawn(plan, SeededDraws(seed)) for seed in range(1, draws + 1)]
        grades = plan.publish.grades
        numbers = [_utility(pair.name, self._compared(pair, drawn), grades) for pair in self.pairs]
        divided = [
            _utility(f"{over.name} / {under.name}", self._divided(over, under, drawn), grades)
            for over, under in means_of(self.release, self.pairs)
        ]
        return {
            "power": loss.power(0.05),
            "right_guess": loss.right_guess(),
            "utilities": numbers + divided,
            "diverged": sum(len(plan.then) + len(plan.published) + len(plan.measures) - len(one) for one in drawn),
        }

    def _drawn(self, plan: Plan, draws: Draws) -> Products:
        """The products of one rehearsal; a step that found no answer is not among them."""
        products: Products = {one.name: self._perturbed(one, draws) for one in plan.measures}
        products |= {one.name: self.release.products[one.name] for one in plan.published}
        return calibrated(plan.then, products)[0]

    def _perturbed(self, measure: Measure, draws: Draws) -> Product:
        noisy = measure.with_.perturb(self.cells[measure.name], draws)
        # Another budget may have its numbers in other steps.
        subject = replace(self.release.products[measure.name].subject, step=noisy.step)
        return measured(subject, noisy, measure.with_.uncertainty(noisy))

    def _compared(self, pair: Pair, drawn: Sequence[Products]) -> list[Compared]:
        """What each draw made of a product beside the truth; stated errors are of the first.

        Which cells hold a number is drawn where they may not be summed.
        """
        made, tables = [one[pair.name] for one in drawn if pair.name in one], self._tables(pair)
        if not made or not tables:
            return []
        if not pair.product.subject.additive:
            return [pooled([_with(pair, one).table(names, STATED).cells for names in tables]) for one in made]
        first = [_with(pair, made[0]).table(names, STATED) for names in tables]
        return [
            pooled([replace(one.cells, released=released(product, one.table)) for one in first]) for product in made
        ]

    def _divided(self, over: Pair, under: Pair, drawn: Sequence[Products]) -> list[Compared]:
        """The means of each draw beside the truth."""
        tables = [names for names in self._tables(over) if have_both(over, under, names)]
        made = [one for one in drawn if over.name in one and under.name in one] if tables else []
        both = [(_with(over, one[over.name]), _with(under, one[under.name])) for one in made]
        return [pooled([mean_table(*pair, names, STATED)[0].cells for names in tables]) for pair in both]

    def _tables(self, pair: Pair) -> list[tuple[str, ...]]:
        """The small tables that are looked at, or all where none is small."""
        asked = looked_at(pair, self.rules)
        return [names for names in asked if len(names) <= 2] or asked


def _with(pair: Pair, product: Product) -> Pair:
    """The same truth, beside what a draw made of the rows that it keeps."""
    return Pair(product, replace(pair.truth, clipped=pair.truth.kept), states=pair.states)


def _utility(name: str, drawn: Sequence[Compared], grades: Mapping[str, float]) -> Numbers:
    """The utility of a product or a mean, on average over the draws in which it was made."""
    apart = [differences(cells) for cells in drawn]
    relative = [one["relative"][1] for one in apart if one["relative"][1] is not None]
    return {
        "product": name,
        "relative": mean(relative),
        "least": min(relative, default=None),
        "most": max(relative, default=None),
        "within_10": mean([one["within_10"] for one in apart]),
        "right_tail": mean([one["right_tail"] for one in apart]),
        "grade_a": mean([grade_a(cells, grades) for cells in drawn]),
        "held": mean([honesty(cells)["promised"] for cells in drawn]),
    }
