"""The pages: server-rendered, their address is their state, and they work without a script."""

from sfumato.serve.pages.routes import routes
from sfumato.serve.pages.site import Pages

__all__ = ["Pages", "routes"]
