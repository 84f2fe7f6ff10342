"""The agency's side of the wall: all that touches a true value. Delete this folder and everything public still runs."""

from sfumato.confidential.account import Account
from sfumato.confidential.gate import STAGES, run, stages
from sfumato.confidential.microdata import Microdata
from sfumato.confidential.options import Options
from sfumato.confidential.tabulate import Tabulation

__all__ = ["STAGES", "Account", "Microdata", "Options", "Tabulation", "run", "stages"]
