"""The public server: release folders in; pages, JSON-stat and CSV out."""

from sfumato.serve.app import app
from sfumato.serve.run import serve

__all__ = ["app", "serve"]
