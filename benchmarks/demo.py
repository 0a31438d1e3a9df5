"""``make demo``: a fresh copy of the sample vault, one sync, three questions, and the note that came of the last.

The index is kept beside the copy, so that a second demo computes nothing anew.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).parent.parent / "sample_vault"
QUESTIONS = (
    ("NotebookLM 有哪些使用场景？",),
    ("這三件事以前記過什麼？", "--from", "项目/年底三件事.md"),
    ("帮我找和观影有关的资源", "--canvas"),
)


def main(vault: Path) -> None:
    if not vault.exists():
        shutil.copytree(SAMPLE, vault, ignore=shutil.ignore_patterns("CFlow"))
        settings = vault / "vaultbrain.toml"
        settings.write_text(settings.read_text(encoding="utf-8") + f'state_dir = "../{vault.name}-state"\n', encoding="utf-8")
    vaultbrain(vault, "sync")
    note = ""
    for words in QUESTIONS:
        note = vaultbrain(vault, "ask", *words).splitlines()[0]
    print(f"\n{Path(note).read_text(encoding='utf-8')}")
    print(f"The note above: {note}")
    print(f"Open {vault.resolve()} as a vault in Obsidian to see all of them.")


def vaultbrain(vault: Path, *words: str) -> str:
    print(f"$ vaultbrain {' '.join(words)}", flush=True)
    command = [str(Path(sys.executable).absolute().with_name("vaultbrain")), *words]
    finished = subprocess.run(command, cwd=vault, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    print(finished.stdout.rstrip(), flush=True)
    return finished.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
