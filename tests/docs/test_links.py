"""Links and anchors of README and docs lead somewhere; scripts, commands and make targets that they name exist."""

import re
import shlex

import pytest
import typer.main
from pages import NAMES, ROOT, anchors, blocks, links, prose, text_of

from bddtorque.cli.app import app

GROUP = typer.main.get_command(app)
COMMANDS = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    folder = (ROOT / name).parent
    for link in links(name):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (folder / path).resolve() if path else ROOT / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in anchors(str(target.relative_to(ROOT))), f"{name}: {link}"


def test_the_checks_see_links():
    assert "getting-started.md" in links("docs/index.md")
    assert "what-is-promised" in anchors("docs/certificate.md")


@pytest.mark.parametrize("name", NAMES)
def test_scripts_that_are_named_exist(name):
    text = text_of(name)
    for script in re.findall(r"\b((?:experiments|examples|tests|bddtorque)/[\w/]+\.(?:py|toml|md))\b", text):
        assert (ROOT / script).exists() or (ROOT / "bddtorque" / script).exists(), f"{name}: {script}"


@pytest.mark.parametrize("name", ["docs/experiments.md", "experiments/README.md"])
def test_experiments_that_are_named_exist(name):
    named = re.findall(r"`([\w*]+\.py)`", text_of(name))
    assert named and all(list((ROOT / "experiments").glob(script)) for script in named)


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_that_are_named_exist(name):
    makefile = text_of("Makefile")
    for target in re.findall(r"(?:^    |`)make ([a-z-]+)", text_of(name), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE) or name in ("docs/c.md", "docs/hardware.md"), (
            f"{name}: make {target}"
        )


def commands_of_blocks(name: str) -> list[list[str]]:
    lines = [
        line
        for block in blocks(name)
        if block.language in ("console", "sh", "bash")
        for line in block.text.splitlines()
    ]
    plain = [line.removeprefix("$ ") for line in lines]
    return [shlex.split(line, comments=True)[1:] for line in plain if line.startswith("bddtorque ")]


@pytest.mark.parametrize("name", NAMES)
def test_commands_in_blocks_are_accepted(name):
    for given in commands_of_blocks(name):
        if given and not given[0].startswith("-"):
            assert given[0] in COMMANDS, f"{name}: bddtorque {' '.join(given)}"
            COMMANDS[given[0]].make_context(given[0], list(given[1:]))  # raises on unknown options and missing values


@pytest.mark.parametrize("name", NAMES)
def test_options_in_prose_exist(name):
    for text in re.findall(r"`bddtorque ([^`]+)`", prose(name)):
        command, *rest = text.replace("\n", " ").split()
        if command.isupper() or command.startswith("-") or "|" in text:
            continue
        assert command in COMMANDS, f"{name}: bddtorque {text}"
        known = {option for parameter in COMMANDS[command].params for option in parameter.opts} | {"--help", "-h"}
        assert {word.split("=")[0] for word in rest if word.startswith("-") and not re.match(r"-\d", word)} <= known, (
            f"{name}: {text}"
        )
