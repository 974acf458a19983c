"""docs/api.md has every public name, and no member that does not exist."""

import re
from dataclasses import fields

import pytest
from pages import text_of

import bddtorque as bt

PAGE = text_of("docs/api.md")


@pytest.mark.parametrize("name", bt.__all__)
def test_every_public_name_is_there(name):
    assert re.search(rf"`(?:bt\.)?{re.escape(name)}\b", PAGE), name


def test_names_that_are_there_are_public():
    for name in re.findall(r"`bt\.(\w+)", PAGE):
        assert name in bt.__all__, name


@pytest.mark.parametrize("kind", ["Model", "Evaluator", "Certificate"])
def test_members_exist(kind):
    section = re.search(rf"^## `{kind}`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    members = [name for row in rows for name in re.findall(r"`(\w+)", row)]
    cls = getattr(bt, kind)
    known = set(dir(cls)) | ({field.name for field in fields(cls)} if hasattr(cls, "__dataclass_fields__") else set())
    known |= {"out_of_range"} if kind == "Evaluator" else set()  # set when it is made
    assert members and set(members) <= known


def test_modules_that_are_named_have_what_is_named():
    import importlib

    for module, name in re.findall(r"`(bddtorque(?:\.\w+)+)\.(\w+)\(", PAGE):
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"
