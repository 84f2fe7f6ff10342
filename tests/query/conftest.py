"""Releases made in memory, so that thousands of them can be asked."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
