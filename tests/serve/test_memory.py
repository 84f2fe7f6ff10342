"""A worker gives back what it lets go: pieces of replies leave no holes in it, however their readers end."""

import os
import subprocess
import sys

import pytest

# Sixty pieces on their way, each with something small that stays for longer after it; then their readers are cut off.
PIECES = """
import sys, threading
from pathlib import Path
{before}
from sfumato.serve.run import _application
from sfumato.serve.limits import Running
application = _application([Path(sys.argv[1])], "127.0.0.1", "", Running())
def held():
    told = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS")) / 1_000
def piece(size):
    return b"x" * size
def cut_off():
    piece(16_000_000)  # the largest that was let go says from where on blocks are kept
    pieces = []
    for _ in range(60):
        pieces.append(piece(1_000_000))
        kept.append(piece(2_000))
kept, before = [], held()
thread = threading.Thread(target=cut_off)
thread.start(), thread.join()
print(held() - before)
"""
AS_IT_WAS = "import sfumato.serve.run as module; module.give_back = lambda: None"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the settings are those of Linux's C library")
@pytest.mark.parametrize(("before", "least", "most"), [("", -5, 5), (AS_IT_WAS, 50, 90)], ids=["now", "as it was"])
def test_a_worker_holds_nothing_of_pieces_that_were_let_go(release, before, least, most):
    command = [sys.executable, "-c", PIECES.format(before=before), str(release)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert least < float(done.stdout) < most, "MB more than before"
