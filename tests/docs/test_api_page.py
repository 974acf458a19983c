"""The Python reference has every public name, and docstrings name the parameters that there are."""

import ast
import doctest
import importlib
import inspect
import re
from typing import Any

import pytest
from pages import ROOT, directives

import bddtorque as bt

PAGES = ("docs/api.md", "docs/api-robots.md", "docs/api-tools.md")
DOCUMENTED = [name for page in PAGES for name in directives(page)]
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"\*{0,2}\w+(?:, \*{0,2}\w+)*")
FUNCTIONS = [name for name in bt.__all__ if inspect.isfunction(getattr(bt, name))]


def entries(docstring: str) -> list[str]:
    """Return the lines that name parameters or attributes."""
    sections = SECTION.findall(inspect.cleandoc(docstring) + "\n")
    return [line for section in sections for line in section.splitlines() if line and not line.startswith(" ")]


def named(docstring: str) -> list[str]:
    return [name.lstrip("*") for entry in entries(docstring) for name in entry.split(", ")]


def resolve(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("name", bt.__all__)
def test_every_public_name_is_in_the_reference(name):
    assert DOCUMENTED.count(f"bddtorque.{name}") == 1


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_name_in_the_reference_exists_and_has_a_docstring(path):
    documented = resolve(path)
    assert isinstance(documented, str) or inspect.getdoc(documented)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_document_every_parameter(name):
    function = getattr(bt, name)
    assert named(inspect.getdoc(function)) == parameters(function)


@pytest.mark.parametrize("path", [path for path in DOCUMENTED if inspect.isclass(resolve(path))])
def test_methods_document_the_parameters_that_they_have(path):
    for name, method in inspect.getmembers(resolve(path), inspect.isfunction):
        if not name.startswith("_") and "Parameters\n---" in (inspect.getdoc(method) or ""):
            assert named(inspect.getdoc(method)) == parameters(method), name


@pytest.mark.parametrize("name", [name for name in bt.__all__ if ">>> " in (getattr(bt, name).__doc__ or "")])
def test_examples_of_docstrings_run(name):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (example,) = finder.find(getattr(bt, name), name, globs={})
    assert runner.run(example).failed == 0


def test_no_docstring_of_the_package_has_text_where_a_type_belongs():
    """Annotations give the types: a line of Parameters or Attributes is a name, or several."""
    wrong = []
    for path in sorted((ROOT / "bddtorque").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                lines = entries(ast.get_docstring(node) or "")
                wrong += [f"{path.name}: {node.name}: {line}" for line in lines if not ENTRY.fullmatch(line)]
    assert wrong == []
