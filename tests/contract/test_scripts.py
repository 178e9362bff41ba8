"""Scripts written against the command-line contract alone, by people outside this code.

`main-job.sh` and `stale-preview.sh` are the contract's own examples, copied as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(p.name for p in HERE.glob("*.sh")))
def test_a_contract_script_says_ok(name: str) -> None:
    """Real processes, real files, nothing of ours imported."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", HERE / name],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.stdout.strip(), done.returncode) == ("ok", 0), done.stderr
