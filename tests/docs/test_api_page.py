"""The Python reference has every public name, and docstrings name the parameters that there are."""

import doctest
import importlib
import inspect
import re
from typing import Any

import pytest
from pages import directives
from plain_english import docstring_findings, entries

import bddtorque as bt

PAGES = ("docs/api.md", "docs/api-robots.md", "docs/api-tools.md")
DOCUMENTED = [name for page in PAGES for name in directives(page)]
FUNCTIONS = [name for name in bt.__all__ if inspect.isfunction(getattr(bt, name))]


def named(docstring: str) -> list[str]:
    return [name.lstrip("*") for entry in entries(inspect.cleandoc(docstring)) for name in entry.split(", ")]


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


@pytest.mark.parametrize("path", [path for path in DOCUMENTED if inspect.isclass(resolve(path))])
def test_classes_document_attributes_that_they_have(path):
    cls = resolve(path)
    known = {name for each in cls.__mro__ for name in getattr(each, "__annotations__", {})} | set(dir(cls))
    source = inspect.getsource(cls)
    known |= {*re.findall(r"self\.(\w+)", source), *re.findall(r"^        (\w+): ", source, re.MULTILINE)}  # __init__
    assert set(named(inspect.getdoc(cls) or "")) <= known


def test_every_option_of_compile_is_documented():
    options = resolve("bddtorque.spec.compile_options.CompileOptions").__annotations__
    records = (resolve(f"bddtorque.spec.{name}") for name in ("Spec", "JointSpec"))
    documented = {name for record in records for name in named(inspect.getdoc(record))}
    assert set(options) <= documented
    of_readers = resolve("bddtorque.robots.tree_robot.TreeOptions")
    assert named(of_readers.__doc__) == list(of_readers.__annotations__)


@pytest.mark.parametrize("name", [name for name in bt.__all__ if ">>> " in (getattr(bt, name).__doc__ or "")])
def test_examples_of_docstrings_run(name):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (example,) = finder.find(getattr(bt, name), name, globs={})
    assert runner.run(example).failed == 0


def test_text_where_a_type_belongs_is_found():
    """`make lint` looks at all docstrings of the package; annotations give the types."""
    text = 'def f(x: int) -> int:\n    """Return x.\n\n    Parameters\n    ----------\n    {}\n    """\n    return x\n'
    assert docstring_findings("f.py", text.format("x\n        A number.")) == []
    (found,) = docstring_findings("f.py", text.format("x : a number"))
    assert found.startswith("f.py:1: f: 'x : a number'")
