"""Firnline: the operator for Apache Iceberg lakehouses."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """`__version__`, looked up when somebody asks: reading package metadata costs as much as a whole command line."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("firnline")
    except PackageNotFoundError:  # a source tree on the path without an install
        return "0+unknown"
