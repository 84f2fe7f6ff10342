"""The small language in which a release is planned and priced before any data are read."""

from sfumato.plan.geography import Geography
from sfumato.plan.measure import Measure, Publish
from sfumato.plan.plan import Plan
from sfumato.plan.price import Price
from sfumato.plan.sampling import BoughtVariance, VarianceFunction

__all__ = ["BoughtVariance", "Geography", "Measure", "Plan", "Price", "Publish", "VarianceFunction"]
