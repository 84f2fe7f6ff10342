"""Plug-in files: all of them are loaded before a charge, as a file that fails later would cost what was charged."""

from importlib import import_module
from typing import NamedTuple

from sfumato.calibrate import Step
from sfumato.confidential.engines.choose import engines
from sfumato.errors import PlanError, SfumatoError
from sfumato.mechanisms import Mechanism
from sfumato.plugins import found
from sfumato.privacy.neighbours import Neighbours
from sfumato.release import Product, Uncertainty
from sfumato.statistics import Statistic


class PluginFolder(NamedTuple):
    """A package whose modules each hold an example, the class attribute that names it, and the class it must have."""

    package: str
    by: str
    kind: type


FOLDERS = (
    PluginFolder("sfumato.mechanisms", "name", Mechanism),
    PluginFolder("sfumato.statistics", "name", Statistic),
    PluginFolder("sfumato.calibrate", "kind", Step),
    PluginFolder("sfumato.privacy.neighbours", "kind", Neighbours),
    PluginFolder("sfumato.release.products", "kind", Product),
    PluginFolder("sfumato.release.uncertainties", "kind", Uncertainty),
)


def load_plugins() -> None:
    """Refuse to start where a file of a plug-in folder cannot be loaded, or holds no example of its kind."""
    engines()
    for folder in FOLDERS:
        try:
            examples = found(import_module(folder.package), by=folder.by)
        except SfumatoError:
            raise
        except Exception as error:  # noqa: BLE001 - the code of a plug-in may raise anything
            raise PlanError(
                f"A plug-in file in {folder.package} cannot be loaded: {type(error).__name__}: {error}. Nothing is "
                "charged; repair the file, or take it out of its folder."
            ) from None
        for name, example in examples.items():
            if not isinstance(example, folder.kind):
                raise PlanError(
                    f"The plug-in '{name}' of {folder.package} is no {folder.kind.__name__}; derive its class from "
                    f"{folder.kind.__module__}.{folder.kind.__name__}, or take the file out of its folder."
                )
