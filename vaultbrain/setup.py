"""The settings file of a new vault: what is found out before, and how it is written.

Refuses to overwrite a settings file or to make a vault where there is no folder.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from vaultbrain.errors import UsageProblem, WriteFailed
from vaultbrain.settings import SETTINGS_FILE, TOKEN_VARIABLE
from vaultbrain.sources.detect import describe_source

_ZONE_IN_PATH = re.compile(r"zoneinfo/(?:posix/|right/)?(?P<name>[A-Za-z_]+/[A-Za-z_/+-]+)$")


@dataclass(frozen=True, slots=True)
class FoundVault:
    """``is_obsidian``: the folder has Obsidian's configuration. ``zone`` is an IANA name, or empty when unknown."""

    path: Path
    is_obsidian: bool
    zone: str


@dataclass(frozen=True, slots=True)
class SettingsChoice:
    source: str
    folder: str = "CFlow"


def inspect_vault(path: Path) -> FoundVault:
    """Raises ``UsageProblem`` when this is no folder, or has settings already."""
    if not path.is_dir():
        raise UsageProblem(what=f"{path} is not a folder.", next="Give the folder of your vault: vaultbrain init VAULT")
    path = path.resolve()
    if (path / SETTINGS_FILE).exists():
        raise UsageProblem(
            what=f"{path} already has a {SETTINGS_FILE}.", next=f"Edit {path / SETTINGS_FILE}, or run: vaultbrain sync"
        )
    return FoundVault(path, (path / ".obsidian").is_dir(), local_zone_name())


def local_zone_name() -> str:
    """The machine's time zone as an IANA name, so that dates in notes do not move when the laptop travels; empty when unknown."""
    if zone := os.environ.get("TZ", "").lstrip(":"):
        return zone if "/" in zone else ""
    try:
        match = _ZONE_IN_PATH.search(str(Path("/etc/localtime").resolve()))
    except OSError:
        return ""
    return match["name"] if match else ""


def inspect_source(source: str, vault: Path) -> str:
    """A sentence on what answers at the address, or is in the export. Raises the source's errors."""
    return describe_source(source, vault=vault, token=os.environ.get(TOKEN_VARIABLE, "").strip())


def write_settings(found: FoundVault, choice: SettingsChoice, *, dry_run: bool) -> str:
    """The text of the settings file, written unless ``dry_run``."""
    lines = [
        "# Settings of vaultbrain for this vault. All others have defaults: vaultbrain config show",
        f"source = {json.dumps(choice.source, ensure_ascii=False)}",
        f"folder = {json.dumps(choice.folder, ensure_ascii=False)}",
        *([f'timezone = "{found.zone}"'] if found.zone else []),
        "# The access token is never kept here: set CFLOW_API_TOKEN, or name a file outside the vault:",
        '# token_file = "~/.config/vaultbrain/token"',
        "",
    ]
    text = "\n".join(lines)
    if not dry_run:
        try:
            with (found.path / SETTINGS_FILE).open("x", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise WriteFailed(path=found.path / SETTINGS_FILE, reason=error.strerror or str(error)) from error
    return text
