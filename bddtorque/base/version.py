"""The one version number: the package, its files and pyproject.toml all take it from here."""

__version__ = "0.1.0"
