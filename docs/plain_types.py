"""For the API pages: types without what checks them. ``Annotated[int, as_whole(4, 28)]`` is shown as ``int``."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Class, Expr, ExprSubscript, ExprTuple, Extension, Function, Module


class PlainTypes(Extension):
    """An extension of griffe, which reads the docstrings."""

    def on_package(self, *, pkg: Module, **kwargs: Any) -> None:
        """Go through a package that was read; griffe has made the signatures of its dataclasses by then."""
        _walk(pkg)


def _walk(place: Module | Class) -> None:
    for member in list(place.members.values()):
        if member.is_alias:
            continue
        if isinstance(member, Attribute):
            member.annotation = _plain(member.annotation)
        elif isinstance(member, Function):
            for parameter in member.parameters:
                parameter.annotation = _plain(parameter.annotation)
        elif isinstance(member, Module | Class):
            _walk(member)


def _plain(annotation: str | Expr | None) -> str | Expr | None:
    if isinstance(annotation, ExprSubscript) and str(annotation.left) == "Annotated":
        return annotation.slice.elements[0] if isinstance(annotation.slice, ExprTuple) else annotation.slice
    return annotation
