"""The API: tables, their metadata and their data in the shapes of PxWebApi 2, and what each release promises."""

from sfumato.serve.api.routes import router

__all__ = ["router"]
