"""What is shipped is what was tested: the wheel holds all of the package and nothing else, and works where nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from shell import ROOT, Shell

PACKAGE = ROOT / "vaultbrain"
SAMPLE = ROOT / "sample_vault" / "cflow-export.json"
MEMOS = 30
IS_WINDOWS = os.name == "nt"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, encoding="utf-8", env=os.environ | {"PYTHONUTF8": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every module, the templates, the lexicon, the language means and the Skill; no test, no vault, no cache."""
    names = set(zipfile.ZipFile(wheel).namelist())
    kinds = ("*.py", "*.toml", "*.npz", "*.txt", "*.md", "*.yaml")
    wanted = {path.relative_to(ROOT).as_posix() for kind in kinds for path in PACKAGE.rglob(kind)}
    wanted |= {f"vaultbrain/vault_templates/{path.name}" for path in (ROOT / "vault_templates").glob("*.j2")}
    assert {"vaultbrain/skill/SKILL.md", "vaultbrain/skill/agents/openai.yaml"} < wanted
    assert {"vaultbrain/retrieve/lexicon.toml", "vaultbrain/index/language_means_e5.npz"} < wanted
    assert {"vaultbrain/vault_templates/memo.md.j2", "vaultbrain/vault_templates/answer.md.j2"} < wanted
    information = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    assert {name.rpartition("/")[2] for name in information} >= {"METADATA", "RECORD", "WHEEL", "entry_points.txt"}
    assert names - information == wanted


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``vaultbrain`` command of a new environment: the wheel, and the packages of the running one without its vaultbrain.

    A path in a ``.pth`` file is searched for packages, but ``.pth`` files in it (an editable install) are not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", str(folder), cwd=folder)
    python = folder / ("Scripts/python.exe" if IS_WINDOWS else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel), cwd=folder)
    own = Path(run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    theirs = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (own / "dependencies.pth").write_text("\n".join(theirs), encoding="utf-8")
    where = run(str(python), "-c", "import vaultbrain; print(vaultbrain.__file__)", cwd=folder).strip()
    assert Path(where).is_relative_to(own)
    return python.with_name("vaultbrain.exe" if IS_WINDOWS else "vaultbrain")


@pytest.mark.slow
def test_the_wheel_alone_mirrors_and_answers(installed: Path, tmp_path: Path) -> None:
    """init, sync of an export and ask, from the console script, far from this checkout."""
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    memos = json.loads(SAMPLE.read_bytes())[:MEMOS]
    (tmp_path / "export.json").write_text(json.dumps(memos), encoding="utf-8")
    shell = Shell(tmp_path, {"PYTHONPATH": ""}, (str(installed),))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert shell("--version").out == f"vaultbrain {project['version']}\n"
    assert shell("init", "--source", "../export.json").code == 0
    synced = shell("sync", "--json")
    assert (synced.code, synced.err) == (0, "")
    assert synced.json["created"] == len(list((tmp_path / "vault" / "CFlow" / "Memos").glob("*.md"))) == MEMOS
    asked = shell("ask", "帮我找和观影有关的资源")
    assert asked.code == 0
    assert "## 结论" in Path(asked.out.rstrip("\n")).read_text(encoding="utf-8")
