"""Plug-ins: the examples of a folder by their names, one file each, so that a new one is a new file alone."""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from sfumato.errors import PlanError, nearest

TEXTS = tuple[str, ...]


def found(folder: ModuleType, by: str = "name") -> dict[str, Any]:
    """The examples of a folder by what plans call them: one file each, with EXAMPLE at its foot."""
    modules = [
        importlib.import_module(f"{folder.__name__}.{module.name}") for module in pkgutil.iter_modules(folder.__path__)
    ]
    examples: dict[str, Any] = {}
    for module in (module for module in modules if hasattr(module, "EXAMPLE")):
        example, name = module.EXAMPLE, getattr(module.EXAMPLE, by, "")
        if not isinstance(name, str) or not name:
            raise PlanError(f"{module.__name__}: its class lacks `{by}`, what plans call it: {by}: ClassVar[str] = ….")
        if name in examples:
            raise PlanError(f"Two files of {folder.__name__} are called '{name}'; a name means one thing: rename one.")
        examples[name] = example
    return examples


def made_of(written: Mapping[str, Any], kind: str, known: Mapping[str, Any]) -> Any:
    """The plug-in that a dictionary means, by its name under `kind` and its parameters."""
    if kind not in written:
        raise PlanError(f'A {kind} is missing: write {{ {kind} = "..." }}; {nearest("", sorted(known))}')
    name = str(written[kind])
    if name not in known:
        raise PlanError(f"There is no {kind} '{name}'; {nearest(name, sorted(known))}")
    parameters = {
        key: tuple(value) if isinstance(value, list) else value for key, value in written.items() if key != kind
    }
    cls = type(known[name])
    wanted = [parameter for parameter in inspect.signature(cls).parameters if parameter != "self"]
    for key, value in parameters.items():
        if key not in wanted:
            raise PlanError(f"The {kind} '{name}' has no '{key}'; {nearest(key, wanted)}")
        if not _said(value, annotation := inspect.signature(cls).parameters[key].annotation):
            meant = "text; write it in quotes" if annotation != TEXTS else 'list of texts; write it so: ["…", "…"]'
            raise PlanError(f"The {kind} '{name}' has a '{key}' that is no {meant}.")
    try:
        return cls(**parameters)
    except TypeError:
        signature = inspect.signature(cls).parameters
        needed = [one for one in wanted if signature[one].default is inspect.Parameter.empty]
        lacking = [one for one in needed if one not in parameters] or needed
        raise PlanError(
            f"The {kind} '{name}' needs {', '.join(lacking)}; got {', '.join(parameters) or 'nothing'}."
        ) from None


def _said(value: Any, wanted: Any) -> bool:
    """Whether a value that is to be a text is one, or a list of them where that is wanted."""
    if wanted is str or wanted == str | None:
        return isinstance(value, str)
    return wanted != TEXTS or (isinstance(value, tuple) and all(isinstance(one, str) for one in value))
