"""Plug-ins: the examples of a folder by their names, one file each, so that a new one is a new file alone."""

import importlib
import pkgutil
from types import ModuleType
from typing import Any

from sfumato.errors import PlanError


def found(folder: ModuleType, by: str = "name") -> dict[str, Any]:
    """The examples of a folder by what plans call them: one file each, with EXAMPLE at its foot."""
    modules = [
        importlib.import_module(f"{folder.__name__}.{module.name}") for module in pkgutil.iter_modules(folder.__path__)
    ]
    examples: dict[str, Any] = {}
    for example in (module.EXAMPLE for module in modules if hasattr(module, "EXAMPLE")):
        name = getattr(example, by)
        if name in examples:
            raise PlanError(f"Two files of {folder.__name__} are called '{name}'; a name means one thing: rename one.")
        examples[name] = example
    return examples
