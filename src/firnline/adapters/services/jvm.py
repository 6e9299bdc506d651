"""What the two Java services share: the Java, pyspark's jars, and a source file that is compiled as it starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firnline.adapters.local import java
from firnline.adapters.services.values import Home, Launch
from firnline.adapters.spark import jars
from firnline.core.errors import Missing

_SOURCES = Path(__file__).with_name("java")
_MEMORY = "384m"
# The compiler inside pyspark, which Spark itself uses for its generated code, has a main of its own.
_COMPILER = "org.codehaus.janino.SimpleCompiler"
_COMPILER_JARS = ("janino-*.jar", "commons-compiler-*.jar")


def find(home: Home) -> Path:
    """The `java` program; the same that Spark is run with."""
    search = java.find(home.env)
    if search.chosen is None:
        raise Missing("No Java for the local services was found.", next_step=java.HOW_TO_INSTALL)
    return search.chosen.command


def pyspark_jars() -> Path:
    """The folder of jars inside pyspark: the Hive Metastore, Derby and the compiler are among them."""
    return jars.pyspark_folder() / "jars"


def compiler() -> list[str]:
    """The jars of the compiler alone."""
    return [str(path) for pattern in _COMPILER_JARS for path in sorted(pyspark_jars().glob(pattern))]


def launch(
    home: Home, main: str, class_path: Sequence[str], arguments: Sequence[str], options: Sequence[str]
) -> Launch:
    """Runs the class of this name from its source file."""
    # These servers live for minutes and do little: the second compiler of the JVM would cost more than it gives.
    fixed = (f"-Xmx{_MEMORY}", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
    source = str(_SOURCES / f"{main}.java")
    where = ":".join(class_path)
    return Launch((str(find(home)), *fixed, *options, "-cp", where, _COMPILER, source, main, *arguments))
