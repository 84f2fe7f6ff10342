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
    "subprocess.Popen": "start a program",
    "pty.spawn": "start a program",
    "socket.connect": "call another machine",
    "socket.sendto": "call another machine",
    "socket.sendmsg": "call another machine",
    "socket.getaddrinfo": "look up another machine",
    "socket.gethostbyname": "look up another machine",
    "socket.gethostbyaddr": "look up another machine",
    "socket.bind": "listen anew",
    "ctypes.dlopen": "load machine code",
    "ctypes.dlsym": "load machine code",
    "os.system": "start a program",
    "os.exec": "start a program",
    "os.posix_spawn": "start a program",
    "os.spawn": "start a program",
    "os.startfile": "start a program",
    "os.fork": "start a program",
    "os.forkpty": "start a program",
    "os.kill": "signal a program",
    "os.remove": "change files",
    "os.rename": "change files",
    "os.mkdir": "change files",
    "os.rmdir": "change files",
    "os.link": "change files",
    "os.symlink": "change files",
    "os.truncate": "change files",
    "os.chmod": "change files",
    "os.chown": "change files",
    "os.utime": "change files",
    "os.setxattr": "change files",
    "os.removexattr": "change files",
    "sqlite3.connect": "change files",
}


def close() -> None:
    """Close the sandbox for this process, for good."""
    sys.dont_write_bytecode = True
    sys.addaudithook(_hook())


def _hook() -> Callable[[str, tuple[Any, ...]], None]:
    # Bound here, so that a later change of this module's names changes nothing.
    refused, writing, denied = dict(_REFUSED), _WRITING, PermissionError

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _, mode, flags = arguments
            if (isinstance(mode, str) and any(one in mode for one in "wax+")) or (flags or 0) & writing:
                raise denied("The server is read-only: it may not write a file.")
        elif event in refused:
            raise denied(f"The server is read-only: it may not {refused[event]}.")

    return hook
