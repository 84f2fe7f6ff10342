"""The small language in which a release is planned and priced before any data are read."""

from sfumato.plan.geography import Geography
from sfumato.plan.plan import BoughtVariance, Measure, Plan, Publish, VarianceFunction
from sfumato.plan.price import Price

__all__ = ["BoughtVariance", "Geography", "Measure", "Plan", "Price", "Publish", "VarianceFunction"]
