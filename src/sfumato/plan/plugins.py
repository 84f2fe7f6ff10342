"""Plug-ins: every mechanism and statistic by name, found in its folder, written and read in plans the same way."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sfumato import calibrate, mechanisms, statistics
from sfumato.calibrate import Step
from sfumato.mechanisms import Mechanism
from sfumato.plugins import found, made_of
from sfumato.privacy.notation import text
from sfumato.statistics import Statistic


def mechanism(written: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a plan writes as {mechanism = "geometric", epsilon = "1"}."""
    made: Mechanism = made_of(written, "mechanism", found(mechanisms))
    return made


def statistic(written: str | Mapping[str, Any]) -> Statistic:
    """The statistic that a plan writes as "count" or {statistic = "total", column = "wage", clip = ["0", "9"]}."""
    named = {"statistic": written} if isinstance(written, str) else written
    made: Statistic = made_of(named, "statistic", found(statistics))
    return made


def step(written: Mapping[str, Any]) -> Step:
    """The step that a plan writes as {step = "rake", name = "employment", table = "cube", to = ["by_soc"]}."""
    made: Step = made_of(written, "step", found(calibrate, by="kind"))
    return made


def written(plugin: Mechanism | Statistic | Step, kind: str) -> dict[str, Any]:
    """A plug-in as the dictionary that reads back as an equal one."""
    given = [field.name for field in fields(plugin) if field.init]  # type: ignore[arg-type]
    values = {name: getattr(plugin, name) for name in given}
    called = plugin.kind if isinstance(plugin, Step) else plugin.name
    return {kind: called} | {name: text(value) for name, value in values.items() if value not in (None, "")}
