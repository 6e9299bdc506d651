"""Firnline: the operator for Apache Iceberg lakehouses."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("firnline")
except PackageNotFoundError:  # a source tree on the path without an install
    __version__ = "0+unknown"
