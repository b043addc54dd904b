"""Which package may import which, read from the syntax trees: scripts → reports → analysis, scripts → sim."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("sim", "analysis", "reports", "scripts", "tests")
ALLOWED = {
    "sim": {"sim"},
    "analysis": {"analysis"},
    "reports": {"reports", "analysis"},
    "scripts": {"scripts", "reports", "analysis", "sim"},
}
FILES = [path for package in ALLOWED for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path):
    """Yield (module, is it at the top level of the file) for every import."""
    tree = ast.parse(path.read_text())
    top = set()
    for node in tree.body:
        top.add(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            top.update(node.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, node in top


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_arrows(path):
    package = path.relative_to(ROOT).parts[0]
    for module, _ in imports(path):
        if module.split(".")[0] in OURS:
            assert module.split(".")[0] in ALLOWED[package], f"{path}: imports {module}"


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "reference").rglob("*.py")), ids=lambda path: path.stem)
def test_references_import_nothing_of_ours(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module)
        assert not [name for name in names if name.split(".")[0] in OURS[:4]], path


def test_games_do_not_import_each_other():
    games = ROOT / "sim" / "games"
    names = {path.name for path in games.iterdir() if (path / "__init__.py").exists()}
    for name in names:
        for path in (games / name).rglob("*.py"):
            for module, _ in imports(path):
                parts = module.split(".")
                if parts[:2] == ["sim", "games"] and len(parts) > 2:
                    assert parts[2] == name, f"{path}: imports {module}"


def test_one_module_names_the_compile_decorator():
    for path in FILES:
        if path.relative_to(ROOT).as_posix() != "sim/jit.py":
            assert "njit" not in path.read_text(), path


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("scripts.cli", ("numpy", "numba", "pandas", "pyarrow", "scipy", "matplotlib", "statsmodels", "rich")),
        ("sim", ("numpy", "numba", "pandas", "pyarrow")),
        ("sim.games.bludiste", ("numpy", "numba", "pandas", "pyarrow")),
        ("sim.games.bussikuski", ("numpy", "numba", "pandas", "pyarrow")),
        ("analysis.summary", ("numba", "pandas", "scipy", "statsmodels", "matplotlib")),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(module, heavy):
    code = f"import {module}, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
