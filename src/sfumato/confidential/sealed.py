"""Sealed: what holds true values prints as its name, and can be neither pickled nor copied."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, ParamSpec, TypeVar

from sfumato.errors import DataError, SfumatoError

P = ParamSpec("P")
T = TypeVar("T")


class Sealed:
    """An object of the confidential side; nothing of what it holds is shown, and it stays in its process."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} is confidential and cannot be pickled or copied.")


@contextmanager
def without_values(sentence: str) -> Iterator[None]:
    """Pass on that a reader failed and the kind of its error, never its words: they may quote the data.

    Only what is not installed keeps its words, as they name a package.
    """
    try:
        yield
    except (SfumatoError, ModuleNotFoundError):
        raise
    except Exception as error:  # noqa: BLE001 - every library has errors of its own, and any of them may quote a value
        raise DataError(f"{sentence} ({type(error).__name__}).") from None


def scrubbed(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a call returns; its refusal is said anew, so that no reader's own error hangs on it as its context."""
    try:
        return call(*args, **kwargs)
    except SfumatoError as error:
        refusal = type(error)(str(error))
    raise refusal
