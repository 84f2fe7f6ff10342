"""The command line: every job of an agency and of a reader as one command."""

from sfumato.cli.main import main

__all__ = ["main"]
