"""Plug-ins: every mechanism and statistic by name, found in its folder, written and read in plans the same way."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sfumato import calibrate, mechanisms, statistics
from sfumato.calibrate import Step
from sfumato.errors import PlanError, nearest
from sfumato.mechanisms import Mechanism
from sfumato.plugins import found
from sfumato.privacy.written import text
from sfumato.statistics import Statistic


def mechanism(written: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a plan writes as {mechanism = "geometric", epsilon = "1"}."""
    made: Mechanism = _made(written, "mechanism", found(mechanisms))
    return made


def statistic(written: str | Mapping[str, Any]) -> Statistic:
    """The statistic that a plan writes as "count" or {statistic = "total", column = "wage", clip = ["0", "9"]}."""
    named = {"statistic": written} if isinstance(written, str) else written
    made: Statistic = _made(named, "statistic", found(statistics))
    return made


def step(written: Mapping[str, Any]) -> Step:
    """The step that a plan writes as {step = "rake", name = "employment", table = "cube", to = ["by_soc"]}."""
    made: Step = _made(written, "step", found(calibrate, by="kind"))
    return made


def _made(written: Mapping[str, Any], kind: str, known: Mapping[str, Any]) -> Any:
    if kind not in written:
        raise PlanError(f'A {kind} is missing: write {{ {kind} = "..." }}; {nearest("", sorted(known))}')
    name = str(written[kind])
    if name not in known:
        raise PlanError(f"There is no {kind} '{name}'; {nearest(name, sorted(known))}")
    parameters = {key: _value(value) for key, value in written.items() if key != kind}
    cls = type(known[name])
    wanted = [parameter for parameter in inspect.signature(cls).parameters if parameter != "self"]
    for key in parameters:
        if key not in wanted:
            raise PlanError(f"The {kind} '{name}' has no '{key}'; {nearest(key, wanted)}")
    try:
        return cls(**parameters)
    except TypeError:
        raise PlanError(
            f"The {kind} '{name}' needs {', '.join(wanted)}; got {', '.join(parameters) or 'nothing'}."
        ) from None


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def written(plugin: Mechanism | Statistic | Step, kind: str) -> dict[str, Any]:
    """A plug-in as the dictionary that reads back as an equal one."""
    given = [field.name for field in fields(plugin) if field.init]  # type: ignore[arg-type]
    values = {name: getattr(plugin, name) for name in given}
    called = plugin.kind if isinstance(plugin, Step) else plugin.name
    return {kind: called} | {name: text(value) for name, value in values.items() if value not in (None, "")}
