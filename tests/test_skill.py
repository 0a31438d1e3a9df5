"""The Skill: what it tells an assistant is true of the code, its form is what assistants read, installing it loses nothing."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from obsidian import hash_tree
from shell import Finished, Shell
from test_docs import commands_in, complaint, generator
from typer.main import get_command

from vaultbrain.cli.main import app
from vaultbrain.errors import UsageProblem, WriteFailed
from vaultbrain.index.installed import installed_version
from vaultbrain.mcp import results
from vaultbrain.mcp.arguments import Choice, schema_of
from vaultbrain.mcp.tools import TOOLS
from vaultbrain.memo import Memo
from vaultbrain.retrieve.fusion import LABEL_NAMES
from vaultbrain.retrieve.search import Hit
from vaultbrain.skill.install import RECORD, SKILL, WAITING, Fate, Offer, Plan, Reader, apply_plan, plan_install

OURS = Path(__file__).parent.parent / "vaultbrain" / "skill"
MAIN, PLAYBOOK, CODEX_FILE = "SKILL.md", "references/cflow-rag-playbook.md", "agents/openai.yaml"
PAGES = (MAIN, PLAYBOOK)
#: What an agent pays for at every use, and once in a while.
MOST_LINES = {MAIN: 150, PLAYBOOK: 200, CODEX_FILE: 30}
#: From the specification of Agent Skills (agentskills.io/specification), which Claude and Codex share.
FRONT_MATTER_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
MOST_NAME_CHARS, MOST_DESCRIPTION_CHARS = 64, 1024
#: From the reference of openai.yaml in Codex's own skill-creator.
SHORT_DESCRIPTION_CHARS = range(25, 65)

_SPAN = re.compile(r"`([^`\n]+)`")
_CALL = re.compile(r"([a-z_]+)\(([^)]*)\)")
_IDENTIFIER = re.compile(r"(?:coverage\.)?([a-z]+(?:_[a-z]+)*)")


def text_of(name: str) -> str:
    return (OURS / name).read_text(encoding="utf-8")


def spans_in(name: str) -> list[str]:
    return _SPAN.findall(text_of(name))


def front_matter(text: str) -> Any:
    begin, front, _ = text.split("---\n", 2)
    assert begin == ""
    return yaml.safe_load(front)


# What it says


@pytest.mark.parametrize("name", PAGES)
def test_tools_are_called_as_the_server_has_them(name: str) -> None:
    """Each call that a page shows names a tool of the server and arguments of that tool."""
    arguments = {tool.name: {argument.name for argument in tool.arguments} for tool in TOOLS}
    calls = [match.groups() for match in map(_CALL.fullmatch, spans_in(name)) if match]
    assert calls
    for tool, given in calls:
        assert tool in arguments, tool
        named = {part.partition("=")[0].strip() for part in given.split(",") if part.strip()}
        assert named <= arguments[tool], tool


def test_every_tool_of_the_server_is_told_of() -> None:
    """None is left for the assistant to guess about: each has an order in the text and a command that stands in for it."""
    names = {tool.name for tool in TOOLS}
    assert {match[1] for match in map(_CALL.fullmatch, spans_in(MAIN)) if match} == names
    assert set(re.findall(r"^\| `([a-z_]+)` \| `vaultbrain ", text_of(MAIN), re.MULTILINE)) == names


@pytest.mark.parametrize("name", PAGES)
def test_every_field_that_is_named_exists(name: str) -> None:
    """A single name between backticks is a tool, an argument, a choice, or a field of a result or of what a command prints."""
    kinds = [kind for kind in vars(results).values() if isinstance(kind, type) and is_dataclass(kind)]
    known = {item.name for kind in (*kinds, Hit, Memo) for item in fields(kind)} | {"vaultbrain"}
    for tool in TOOLS:
        known |= {tool.name, *(argument.name for argument in tool.arguments)}
        known |= {choice for argument in tool.arguments if isinstance(argument, Choice) for choice in argument.choices}
    named = {match[1] for match in map(_IDENTIFIER.fullmatch, spans_in(name)) if match}
    assert len(named) > 10
    assert named - known == set()


@pytest.mark.parametrize("name", PAGES)
def test_every_command_can_be_typed(name: str) -> None:
    """The command exists and has these options; it gives JSON, which is what an assistant reads."""
    commands = list(commands_in(text_of(name)))
    assert {line: complaint(line) for line in commands if complaint(line)} == {}
    assert [line for line in commands if "--json" not in line] == []
    assert len(commands) == (len(TOOLS) if name == MAIN else 0)
    parameters = [parameter for _, command in generator().walk(get_command(app), "") for parameter in command.params]
    options = {span.split()[0] for span in spans_in(name) if span.startswith("--") and span != "--"}
    assert options <= {option for parameter in parameters for option in parameter.opts}


@pytest.mark.parametrize("name", PAGES)
def test_labels_are_those_of_the_program(name: str) -> None:
    """Each label stands in a table with the word that notes show for it."""
    rows = dict(re.findall(r"^\| (strong|related|weak|excluded) \| (\S+) ", text_of(name), re.MULTILINE))
    assert rows == {english: chinese for chinese, english in LABEL_NAMES.items()} | {"excluded": "排除"}


def test_the_bounds_that_are_named_are_those_of_the_server() -> None:
    """8-20 queries fit into a call, and the usual page is the one that is said to be usual."""
    schema = schema_of(next(tool for tool in TOOLS if tool.name == "brain_search_cflow").arguments)["properties"]
    assert schema["queries"]["maxItems"] == 20
    assert "8-20 queries" in text_of(MAIN)
    said = re.search(r"the usual (\d+) and (\d+) suits", text_of(PLAYBOOK))
    assert said
    assert [int(number) for number in said.groups()] == [schema["limit"]["default"], schema["max_bytes"]["default"]]


# Its form


def test_the_front_matter_is_what_assistants_accept(tmp_path: Path) -> None:
    """As installed: known keys, the folder's name, a description within bounds that names its occasions in three scripts."""
    front = front_matter((install(tmp_path).folder / MAIN).read_text(encoding="utf-8"))
    assert set(front) <= FRONT_MATTER_KEYS
    assert front["name"] == SKILL
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", SKILL)
    assert len(SKILL) <= MOST_NAME_CHARS
    description = front["description"]
    assert 1 <= len(description) <= MOST_DESCRIPTION_CHARS
    assert not {"<", ">"} & set(description)
    assert all(word in description for word in ("my notes", "我的笔记", "我的筆記", "cflow"))
    assert front["metadata"] == {"version": "7.1"}


def test_codex_reads_the_rest_from_its_own_file() -> None:
    """Display name, a short description within bounds, a prompt that names the Skill, and the server that it needs."""
    found = yaml.safe_load(text_of(CODEX_FILE))
    assert set(found) == {"interface", "policy", "dependencies"}
    interface = found["interface"]
    assert interface["display_name"] == "cflow智能助手"
    assert len(interface["short_description"]) in SHORT_DESCRIPTION_CHARS
    assert f"${SKILL}" in interface["default_prompt"]
    assert found["policy"] == {"allow_implicit_invocation": True}
    (tool,) = found["dependencies"]["tools"]
    assert (tool["type"], tool["value"], tool["transport"]) == ("mcp", "vaultbrain", "stdio")
    assert "command" not in tool, "Codex would install it without its argument"


def test_it_is_short() -> None:
    """An agent pays for every line."""
    lines = {name: len(text_of(name).splitlines()) for name in MOST_LINES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES[name]} == {}


def test_links_lead_to_files_that_are_installed(tmp_path: Path) -> None:
    """What SKILL.md points to is there, also for Claude, and all of our files are installed for Codex."""
    folder = install(tmp_path / "claude", reader=Reader.CLAUDE).folder
    linked = re.findall(r"\]\(([^)]+)\)", text_of(MAIN))
    assert linked == [PLAYBOOK]
    assert (folder / PLAYBOOK).is_file()
    assert not (folder / "agents").exists()
    ours = {path.relative_to(OURS).as_posix() for path in OURS.rglob("*") if path.suffix in {".md", ".yaml"}}
    assert ours == {step.name for step in install(tmp_path / "codex").steps}


# Installing it


def install(directory: Path, version: str = "7.1", **how: Any) -> Plan:
    directory.mkdir(parents=True, exist_ok=True)
    plan = plan_install(directory, version, **how)
    apply_plan(plan)
    return plan


def make_older(folder: Path, name: str, text: bytes = b"as an older release had it\n") -> None:
    """The file and the record as a release with another text would have left them."""
    (folder / name).write_bytes(text)
    record = json.loads((folder / RECORD).read_bytes())
    record["files"][name]["written"] = hashlib.sha256(text).hexdigest()
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")


def make_outdated_and_edited(folder: Path, name: str = MAIN) -> bytes:
    """An older release's file that the person changed; gives what it holds now."""
    make_older(folder, name)
    (folder / name).write_bytes(b"the person's\r\n\xff own\n")
    return (folder / name).read_bytes()


def test_a_new_folder_gets_every_file_and_the_next_run_changes_no_byte(tmp_path: Path) -> None:
    """SKILL.md names the version; the others are as we ship them."""
    first = install(tmp_path)
    before = hash_tree(first.folder)
    assert (first.folder / PLAYBOOK).read_bytes() == (OURS / PLAYBOOK).read_bytes()
    assert (first.folder / MAIN).read_text(encoding="utf-8") == text_of(MAIN).replace("{version}", "7.1")
    second = install(tmp_path)
    assert second.names(Fate.UNCHANGED) == [MAIN, PLAYBOOK, CODEX_FILE]
    assert hash_tree(first.folder) == before
    assert sorted(path.name for path in first.folder.iterdir()) == [RECORD, "SKILL.md", "agents", "references"]


def test_files_as_we_wrote_them_are_brought_up_to_date(tmp_path: Path) -> None:
    """A text of an older release goes, and so does a file that no release of today has, with its folder."""
    folder = install(tmp_path).folder
    make_older(folder, PLAYBOOK)
    record = json.loads((folder / RECORD).read_bytes())
    record["files"]["scripts/old.txt"] = {"written": hashlib.sha256(b"old").hexdigest(), "offered": ""}
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "old.txt").write_bytes(b"old")
    plan = install(tmp_path, "7.2")
    assert plan.names(Fate.WRITTEN) == [MAIN, PLAYBOOK]
    assert plan.names(Fate.REMOVED) == ["scripts/old.txt"]
    assert not (folder / "scripts").exists()
    assert (folder / PLAYBOOK).read_bytes() == (OURS / PLAYBOOK).read_bytes()
    assert front_matter((folder / MAIN).read_text(encoding="utf-8"))["metadata"]["version"] == "7.2"


def test_an_edited_file_stays_and_the_new_text_is_put_beside_it_once(tmp_path: Path) -> None:
    """Byte for byte; not again while it lies there, not again after the person deleted it, gone when the file is ours again."""
    folder = install(tmp_path).folder
    theirs = make_outdated_and_edited(folder)
    new = folder / "SKILL.md.new"
    assert install(tmp_path).offers(Offer.PUT) == [MAIN]
    assert (folder / MAIN).read_bytes() == theirs
    wanted = new.read_bytes()
    assert b"7.1" in wanted
    before = hash_tree(folder)
    assert install(tmp_path).offers(Offer.STANDS) == [MAIN]
    assert hash_tree(folder) == before
    new.unlink()
    assert install(tmp_path).offers(*WAITING) == []
    assert not new.exists()
    assert (folder / MAIN).read_bytes() == theirs
    new.write_bytes(wanted)
    (folder / MAIN).write_bytes(wanted)
    install(tmp_path)
    assert (folder / MAIN).read_bytes() == wanted
    assert not new.exists()


def test_new_text_that_is_taken_over_leaves_nothing_behind(tmp_path: Path) -> None:
    """Copied over the file: the copy beside it goes. Moved over it: nothing is left to do."""
    folder = install(tmp_path).folder
    make_outdated_and_edited(folder)
    install(tmp_path)
    (folder / MAIN).write_bytes((folder / "SKILL.md.new").read_bytes())
    plan = install(tmp_path)
    assert plan.offers(Offer.WITHDRAWN) == [MAIN]
    assert plan.names(Fate.UNCHANGED)[0] == MAIN
    assert not (folder / "SKILL.md.new").exists()
    make_outdated_and_edited(folder)
    install(tmp_path)
    (folder / "SKILL.md.new").replace(folder / MAIN)
    assert install(tmp_path).names(Fate.UNCHANGED) == [MAIN, PLAYBOOK, CODEX_FILE]


def test_another_version_number_alone_is_no_new_text(tmp_path: Path) -> None:
    """Whoever changed SKILL.md is not bothered with each release; the number counts as ours when they changed nothing."""
    folder = install(tmp_path).folder
    edited = (folder / MAIN).read_bytes() + b"\nAlways answer in verse.\n"
    (folder / MAIN).write_bytes(edited)
    plan = install(tmp_path, "7.2")
    assert (plan.names(Fate.KEPT), plan.offers(*WAITING)) == ([MAIN], [])
    assert (folder / MAIN).read_bytes() == edited


def test_a_newer_text_replaces_the_one_that_still_waits(tmp_path: Path) -> None:
    """But a NAME.new that the person made or changed is theirs, and is left alone."""
    folder = install(tmp_path).folder
    make_outdated_and_edited(folder)
    new = folder / "SKILL.md.new"
    new.write_bytes(b"the person's draft\n")
    assert install(tmp_path).offers(Offer.BLOCKED) == [MAIN]
    assert new.read_bytes() == b"the person's draft\n"
    old = b"what an older release offered\n"
    new.write_bytes(old)
    record = json.loads((folder / RECORD).read_bytes())
    record["files"][MAIN]["offered"] = hashlib.sha256(old).hexdigest()
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")
    assert install(tmp_path).offers(Offer.PUT) == [MAIN]
    assert new.read_bytes() != old


def test_a_deleted_file_stays_deleted_until_it_is_asked_for(tmp_path: Path) -> None:
    """Deleting is an edit, too."""
    folder = install(tmp_path).folder
    (folder / PLAYBOOK).unlink()
    assert install(tmp_path, "7.2").names(Fate.LEFT_OUT) == [PLAYBOOK]
    assert not (folder / PLAYBOOK).exists()
    assert install(tmp_path, "7.2", restores=True).names(Fate.WRITTEN) == [PLAYBOOK]
    assert (folder / PLAYBOOK).is_file()


def test_what_the_person_added_is_never_touched(tmp_path: Path) -> None:
    """Files of their own in our folder, and one that stands where a file of ours goes."""
    folder = install(tmp_path, reader=Reader.CLAUDE).folder
    (folder / "agents").mkdir()
    (folder / CODEX_FILE).write_bytes(b"mine: true\n")
    (folder / "mine.md").write_bytes(b"mine")
    plan = install(tmp_path, reader=Reader.CODEX)
    assert (plan.names(Fate.KEPT), plan.offers(Offer.PUT)) == ([CODEX_FILE], [CODEX_FILE])
    assert (folder / CODEX_FILE).read_bytes() == b"mine: true\n"
    assert (folder / "mine.md").read_bytes() == b"mine"


def test_whose_folder_it_is_is_remembered(tmp_path: Path) -> None:
    """An update without --for leaves out what was left out before; another --for takes the file away again."""
    folder = install(tmp_path, reader=Reader.CLAUDE).folder
    assert install(tmp_path).reader is Reader.CLAUDE
    assert not (folder / CODEX_FILE).exists()
    install(tmp_path, reader=Reader.CODEX)
    assert (folder / CODEX_FILE).is_file()
    assert install(tmp_path, reader=Reader.CLAUDE).names(Fate.REMOVED) == [CODEX_FILE]
    assert not (folder / "agents").exists()


def test_a_folder_that_we_did_not_make_is_not_touched(tmp_path: Path) -> None:
    """Somebody's own skill of this name; an empty folder is nobody's."""
    theirs = tmp_path / "a" / SKILL
    theirs.mkdir(parents=True)
    (theirs / MAIN).write_text("---\nname: cflow-brain\n---\n", encoding="utf-8")
    before = hash_tree(tmp_path)
    with pytest.raises(UsageProblem, match="not made by vaultbrain"):
        install(tmp_path / "a")
    assert hash_tree(tmp_path) == before
    (tmp_path / "b" / SKILL).mkdir(parents=True)
    assert len(install(tmp_path / "b").names(Fate.WRITTEN)) == 3


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"[]",
        b'{"for": "codex"}',
        b'{"for": "nobody", "files": {}}',
        b'{"for": "codex", "files": {"../../other": {"written": "", "offered": ""}}}',
        b'{"for": "codex", "files": {"/etc/hosts": {"written": "", "offered": ""}}}',
        b'{"for": "codex", "files": {"c:\\\\x": {"written": "", "offered": ""}}}',
    ],
)
def test_a_record_that_cannot_be_read_stops_everything(tmp_path: Path, record: bytes) -> None:
    """It does not count as none, and it may not name files elsewhere."""
    folder = install(tmp_path).folder
    (folder / RECORD).write_bytes(record)
    before = hash_tree(tmp_path)
    with pytest.raises(UsageProblem, match="cannot be read"):
        install(tmp_path, "7.2", restores=True)
    assert hash_tree(tmp_path) == before


def link(path: Path, target: Path) -> None:
    try:
        path.symlink_to(target, target_is_directory=target.is_dir())
    except OSError:
        pytest.skip("this system makes no links for everybody")


def test_linked_folders_are_followed_and_linked_files_are_the_person_s(tmp_path: Path) -> None:
    """A skills folder kept elsewhere works; a file that leads elsewhere is left as it is, whatever stands there."""
    real = tmp_path / "kept elsewhere"
    real.mkdir()
    link(tmp_path / "skills", real)
    folder = install(tmp_path / "skills").folder
    assert (real / SKILL / MAIN).is_file()
    make_older(folder, MAIN)
    elsewhere = tmp_path / "elsewhere.md"
    (folder / MAIN).replace(elsewhere)
    link(folder / MAIN, elsewhere)
    assert install(tmp_path / "skills").offers(Offer.PUT) == [MAIN]
    assert (folder / MAIN).is_symlink()
    assert elsewhere.read_bytes() == b"as an older release had it\n"


def test_the_wrong_folder_is_refused(tmp_path: Path) -> None:
    """One that is missing with the folder above it, a file, a link to nowhere, our own folder; one level is made."""
    (tmp_path / "file").touch()
    wrong = [tmp_path / "none" / "skills", tmp_path / "file", tmp_path / "skills" / SKILL]
    link(tmp_path / "nowhere", tmp_path / "gone")
    for directory in [*wrong, tmp_path / "nowhere"]:
        with pytest.raises(UsageProblem) as problem:
            plan_install(directory, "7.1")
        assert problem.value.fact("next")
    apply_plan(plan_install(tmp_path / "skills", "7.1"))
    assert (tmp_path / "skills" / SKILL / MAIN).is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_leaves_whole_files_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """What was written is whole, nothing is half-written, and a folder without a record is still known as ours."""
    folder = tmp_path / SKILL
    (folder / "references").mkdir(parents=True)
    temporary = folder / "references" / ".cflow-rag-playbook.md.tmp"
    temporary.symlink_to("/dev/full")
    with pytest.raises(WriteFailed, match="No space left"):
        install(tmp_path)
    assert [path.name for path in sorted(folder.rglob("*")) if path.is_file()] == [MAIN]
    assert install(tmp_path).names(Fate.WRITTEN) == [PLAYBOOK, CODEX_FILE]


def test_a_folder_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    """A clear error that names the file, and nothing changed. (For root nothing is read-only: a folder is in the way instead.)"""
    folder = install(tmp_path).folder
    make_older(folder, MAIN)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    if _may_write(folder):
        (folder / ".SKILL.md.tmp").mkdir()
    before = hash_tree(folder)
    try:
        with pytest.raises(WriteFailed, match=r"SKILL\.md"):
            install(tmp_path)
    finally:
        folder.chmod(stat.S_IRWXU)
    assert hash_tree(folder) == before


def _may_write(folder: Path) -> bool:
    try:
        (folder / "trial").touch()
    except OSError:
        return False
    (folder / "trial").unlink()
    return True


# On the command line


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / ".claude").mkdir()
    return Shell(tmp_path)


def skill_install(shell: Shell, *words: str) -> Finished:
    return shell("skill", "install", *words, folder=shell.home)


def test_the_command_writes_once_and_says_what(shell: Shell) -> None:
    """A dry run writes nothing and says the same; ~ is the home folder; the version is this program's."""
    folder = shell.home / ".claude" / "skills" / SKILL
    tried = skill_install(shell, "~/.claude/skills", "--for", "claude", "--dry-run")
    assert (tried.code, list((shell.home / ".claude").iterdir())) == (0, [])
    assert tried.out.splitlines()[1:] == [f"  would write {MAIN}", f"  would write {PLAYBOOK}"]
    done = skill_install(shell, "~/.claude/skills", "--for", "claude", "--json")
    version = installed_version("vaultbrain")
    assert done.json == {
        "path": str(folder), "version": version, "for": "claude", "dry_run": False, "written": [MAIN, PLAYBOOK], "unchanged": [],
        "kept": [], "left_out": [], "removed": [], "waiting": [],
    }  # fmt: skip
    assert front_matter((folder / MAIN).read_text(encoding="utf-8"))["metadata"]["version"] == version
    again = skill_install(shell, ".claude/skills")
    assert (again.code, again.err) == (0, "")
    assert again.out == f"{SKILL} {version} in {Path('.claude', 'skills', SKILL)}: nothing to write.\n"


def test_the_command_says_what_waits_for_the_person(shell: Shell) -> None:
    """Exit code 3, the way to compare, and what was kept; a deleted file and how to get it back."""
    folder = install(shell.home / "skills").folder
    make_outdated_and_edited(folder)
    (folder / PLAYBOOK).unlink()
    done = skill_install(shell, "~/skills")
    assert done.code == 3
    assert done.out.splitlines()[1:] == ["  wrote SKILL.md.new"]
    assert "You changed SKILL.md, so it stays as it is" in done.err
    assert f"diff {folder / MAIN} {folder / MAIN}.new" in done.err
    assert f"You deleted {PLAYBOOK}, so it stays away; --restore writes it again." in done.err


def test_a_failure_has_three_parts(shell: Shell) -> None:
    """What happened, what was left untouched, what to do next."""
    done = skill_install(shell, "~/.codex/skills")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[1:2] == ["Nothing was written."]
    assert f"mkdir -p {shell.home / '.codex' / 'skills'}" in done.err
