"""What surrounds the package: one version number, and files for GitHub, pre-commit and citation that can be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import wheel_trial

import bddtorque

yaml = pytest.importorskip("yaml", reason="no reader of YAML here: pip install 'bddtorque[docs]'")

ROOT = Path(__file__).parent.parent
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FIELDS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_one_version_number() -> None:
    assert parsed(ROOT / "CITATION.cff")["version"] == bddtorque.__version__
    assert PROJECT["dynamic"] == ["version"]


def test_the_citation_has_what_its_format_asks_for() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["license"] == PROJECT["license"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_can_be_read(path: Path) -> None:
    workflow = parsed(path)
    assert workflow[True]  # YAML reads the key "on" as true
    for job in workflow["jobs"].values():
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", path.read_text())) <= targets


def test_every_supported_python_is_tried() -> None:
    versions = parsed(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    classified = [each.split(" :: ")[-1] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert versions == classified
    least, beyond = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    assert versions == [f"3.{minor}" for minor in range(int(least), int(beyond))]


def test_extras_that_are_named_exist() -> None:
    """Everywhere that users read: README, pages, messages, examples."""
    files = [ROOT / "README.md", ROOT / "Makefile", *(ROOT / "docs").glob("*.md"), *(ROOT / "bddtorque").rglob("*.py")]
    files += (ROOT / "examples").glob("*")
    texts = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    named = {
        name
        for text in texts
        for found in re.findall(r"(?:bddtorque|\.)\[([a-z,]+)\]", text)
        for name in found.split(",")
    }
    assert {"plots", "mujoco"} <= named <= set(PROJECT["optional-dependencies"])
    listed = re.search(r"other extras are ([^.;]*)\.", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(re.findall(r"`([a-z]+)`", listed[1])) | {"plots"} == set(PROJECT["optional-dependencies"]) - {
        "docs",
        "test",
        "urdf",
    }


def test_the_wheel_is_tried_as_readme_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "bt.compile(" in wheel_trial.ten_lines(readme)
    assert 100 < wheel_trial.stated_megabytes(readme) < 1000


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.stem != "config"], ids=lambda path: path.stem)
def test_issue_templates_can_be_read(path: Path) -> None:
    template = parsed(path)
    assert {"name", "description", "body"} <= set(template)
    assert {field["type"] for field in template["body"]} <= FIELDS
    names = [field["id"] for field in template["body"] if field["type"] != "markdown"]
    assert len(names) == len(set(names))


def test_hooks_run_what_make_runs() -> None:
    (local,) = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    tools = {Path(hook["entry"].split()[0]).name for hook in local["hooks"]}
    recipe = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\ntest:")[0]
    assert tools == set(re.findall(r"\$\(BIN\)/([a-z-]+)", recipe))


def test_the_owner_stands_in_one_place() -> None:
    hidden = [ROOT / name for name in (".pre-commit-config.yaml", "CITATION.cff", "Makefile", "mkdocs.yml")]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *WORKFLOWS, *TEMPLATES]
    named = [path.name for path in [*hidden, *pages] if re.search(r"\bOWNER\b", path.read_text())]
    assert named == ["releasing.md"]
    assert all("OWNER" in url for url in PROJECT["urls"].values())
