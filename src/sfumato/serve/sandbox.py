"""Sandbox: once the releases are open, the process may write no file, start no program and call nobody.

It holds for Python code, whatever found its way in; it is a second lock behind the operating system's own, not a jail
for machine code. It cannot be undone in the process that closed it.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = {
    "start a program": "subprocess.Popen pty.spawn os.system os.exec os.posix_spawn os.spawn os.startfile os.fork "
    "os.forkpty",
    "call another machine": "socket.connect socket.sendto socket.sendmsg",
    "look up another machine": "socket.getaddrinfo socket.gethostbyname socket.gethostbyaddr",
    "listen anew": "socket.bind",
    "load machine code": "ctypes.dlopen ctypes.dlsym",
    "signal a program": "os.kill",
    "change files": "os.remove os.rename os.mkdir os.rmdir os.link os.symlink os.truncate os.chmod os.chown os.utime "
    "os.setxattr os.removexattr sqlite3.connect",
}
"""What is refused, and the audit events of Python that are it."""


def close() -> None:
    """Close the sandbox for this process, for good."""
    sys.dont_write_bytecode = True
    sys.addaudithook(_hook())


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    # Bound here, so that a later change of this module's names changes nothing.
    writing, denied = _WRITING, PermissionError
    refused = {event: what for what, events in _REFUSED.items() for event in events.split()}

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _, mode, flags = arguments
            if (isinstance(mode, str) and any(one in mode for one in "wax+")) or (flags or 0) & writing:
                raise denied("The server is read-only: it may not write a file.")
        elif event in refused:
            raise denied(f"The server is read-only: it may not {refused[event]}.")

    return hook
