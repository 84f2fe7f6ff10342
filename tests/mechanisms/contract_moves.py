"""How far neighbours are apart, by statistic and relation; and a mechanism with another budget."""

from fractions import Fraction

from sfumato.privacy import AddRemove, ReplaceOne
from sfumato.schema import Table
from sfumato.statistics import Count, Total

HIDDEN = [AddRemove("job"), AddRemove("firm", "id", 3), ReplaceOne("job"), ReplaceOne("firm", "id", 3)]
STATISTICS = [Count(), Total("pay", clip=(-1, 2))]
MOVES = {
    f"{statistic.name} {hidden.kind} {hidden.at_most}": hidden.move(statistic.contribution, Table(()))
    for statistic in STATISTICS
    for hidden in HIDDEN
}


def scaled(mechanism, factor: Fraction):
    """The same mechanism with its budget multiplied; what is no fraction stays."""
    given = vars(mechanism).items()
    return type(mechanism)(**{name: one * factor if isinstance(one, Fraction) else one for name, one in given})
