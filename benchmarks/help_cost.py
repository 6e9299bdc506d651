"""What `firnline --help` costs beside the imports it cannot do without.

    python -m benchmarks.help_cost

Method: fresh processes, the two commands in turn (so that a busy moment hits both), wall time, the median of 15. The
rival is `python -c "import typer, rich"`. The bound is 2.0.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

TURNS = 15
BOUND = 2.0


def seconds(command: list[str]) -> float:
    """The wall time of one process that must succeed."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def measure(turns: int = TURNS) -> tuple[float, float]:
    """The medians: `firnline --help`, and the bare imports."""
    ours = [str(Path(sys.executable).with_name("firnline")), "--help"]
    bare = [sys.executable, "-c", "import typer, rich"]
    pairs = [(seconds(ours), seconds(bare)) for _ in range(turns + 1)][1:]  # the first one warms the disk
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def main() -> None:
    """Print the figures; exit 1 past the bound."""
    ours, bare = measure()
    print(f"firnline --help      {ours * 1000:6.0f} ms")
    print(f"import typer, rich   {bare * 1000:6.0f} ms")
    print(f"ratio                {ours / bare:6.2f}  (bound {BOUND})")
    sys.exit(ours / bare > BOUND)


if __name__ == "__main__":
    main()
