"""The command line: every job of an agency and of a reader as one command."""

import gc
import os

from sfumato.cli import main as commands

__all__ = ["main"]


def main() -> None:
    """The program `sfumato`: one command in a process of its own, most of whose life is loading."""
    # The threads of numpy's OpenBLAS wait for work by spinning, 2^26 cycles each: half as long as numpy takes to load.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")
    try:
        # What is loaded by then stays: a search for cycles, and loading sets off many, need not go through it again.
        commands.main(begin=gc.freeze)
    finally:
        gc.disable()  # the interpreter ends with one more search, where nothing is worth finding
