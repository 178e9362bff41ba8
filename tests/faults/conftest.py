"""A workspace made once and copied: the matrix opens it a hundred times."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import make_desk


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new workspace with nothing in it, closed."""
    root = tmp_path_factory.mktemp("template") / "project"
    make_desk(root).store.close()
    return root


@pytest.fixture
def workspace(tmp_path: Path, template: Path) -> Path:
    """A copy of it, which `make_desk` opens."""
    return Path(shutil.copytree(template, tmp_path / "project"))
