"""Still: the pages as files, for who may publish files and run no server; the same application wrote them."""

from sfumato.serve.still.written import Site, write_site

__all__ = ["Site", "write_site"]
