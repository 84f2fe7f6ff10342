"""Loopback: whether a host is this machine itself."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "stat.example")]
    [True, True, True, False, False]
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_alone(written: str) -> str:
    """The host without its port."""
    bracketed = written.startswith("[") or written.count(":") != 1
    return written.partition("]")[0].strip("[") if bracketed else written.partition(":")[0]
