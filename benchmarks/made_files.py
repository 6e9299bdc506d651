"""Tables of many files without any data: manifests written by Iceberg's own Java classes, at their own speed.

The Java below is compiled in the JVM that Spark runs in, by the compiler Spark brings for its own generated code: one
call makes thousands of entries, where a call from Python for each would take longer than the measuring.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

PER_MANIFEST = 4_500
DAYS_PER_COMMIT = 3
_LAKEHOUSE = "version: 1\nname: bench\nenvironments:\n  local:\n    catalogs: {lake: {type: sqlite}}\n"
_COLUMNS = (
    "id BIGINT, ts TIMESTAMP, customer BIGINT, amount DECIMAL(12,2), region STRING, note STRING, qty INT, price DOUBLE,"
    " flag BOOLEAN, day DATE"
)

JAVA = """
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.apache.iceberg.*;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;

public class Maker {
    public void append(Table table, int commit, int count, int days) {
        Random dice = new Random(commit);
        PartitionSpec spec = table.spec();
        AppendFiles append = table.newFastAppend();
        for (int number = 0; number < count; number++) {
            PartitionData partition = new PartitionData(spec.partitionType());
            int day = 20000 + commit + dice.nextInt(days);
            partition.set(0, Integer.valueOf(day));
            partition.set(1, Integer.valueOf(dice.nextInt(16)));
            long rows = 1000 + dice.nextInt(100000);
            String path = table.location() + "/data/ts_day=" + day + "/" + commit + "-" + number
                + "-7f3c1c52-9d7e-4a44-9a52-0c1de0a6ab11-00001.parquet";
            append.appendFile(DataFiles.builder(spec)
                .withPath(path)
                .withFormat(FileFormat.PARQUET)
                .withFileSizeInBytes(1024L * (100 + dice.nextInt(600000)))
                .withPartition(partition)
                .withMetrics(metrics(table.schema(), rows, dice))
                .build());
        }
        append.commit();
    }

    private static Metrics metrics(Schema schema, long rows, Random dice) {
        Map sizes = new HashMap(), values = new HashMap(), nulls = new HashMap(), nans = new HashMap();
        Map lower = new HashMap(), upper = new HashMap();
        for (int at = 0; at < schema.columns().size(); at++) {
            Types.NestedField field = (Types.NestedField) schema.columns().get(at);
            Integer id = Integer.valueOf(field.fieldId());
            sizes.put(id, Long.valueOf(1000 + dice.nextInt(10000000)));
            values.put(id, Long.valueOf(rows));
            nulls.put(id, Long.valueOf(dice.nextInt(100)));
            String type = field.type().toString();
            if (type.equals("double")) nans.put(id, Long.valueOf(0));
            put(lower, id, field, dice.nextInt(1000));
            put(upper, id, field, 1000 + dice.nextInt(1000));
        }
        return new Metrics(Long.valueOf(rows), sizes, values, nulls, nans, lower, upper);
    }

    private static void put(Map bounds, Integer id, Types.NestedField field, int number) {
        String type = field.type().toString();
        Object value = null;
        if (type.equals("long") || type.startsWith("timestamp")) value = Long.valueOf(1700000000000000L + number);
        if (type.equals("int") || type.equals("date")) value = Integer.valueOf(number);
        if (type.equals("double")) value = Double.valueOf(number);
        if (type.equals("string")) value = "some text " + number;
        if (value != null) bounds.put(id, Conversions.toByteBuffer(field.type(), value));
    }
}
"""


def make(root: Path, entries: int) -> None:
    """A project in `root` with the table `bench.made` of so many entries."""
    (root / "lakehouse.yaml").write_text(_LAKEHOUSE, encoding="utf-8")
    _run(root, "make", entries)


def more(root: Path, manifests: int, so_far: int) -> int:
    """So many manifests more in the same table; how many files that adds."""
    _run(root, "more", manifests * PER_MANIFEST, so_far)
    return manifests * PER_MANIFEST


def _run(root: Path, *arguments: object) -> None:
    """In a process of its own, so that the JVM is gone before anything is measured."""
    command = [sys.executable, "-m", "benchmarks.made_files", str(root), *map(str, arguments)]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[1])


def maker(session: Any) -> Any:
    """The Java class above, ready to be called."""
    jvm = session._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(JAVA)
    gateway = session.sparkContext._gateway
    none = gateway.new_array(jvm.java.lang.Class, 0)
    made = compiler.getClassLoader().loadClass("Maker").getConstructor(none)
    return made.newInstance(gateway.new_array(jvm.java.lang.Object, 0))


def main() -> None:
    """`ROOT make ENTRIES`, or `ROOT more ENTRIES SO_FAR`."""
    from firnline.lakehouse.opening import Lakehouse

    root, what, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    session: Any = Lakehouse.open(root).spark.isolated()
    session.sql("USE lake")  # catalogs are set on the session: a statement is what loads one
    if what == "make":
        session.sql("CREATE NAMESPACE lake.bench")
        session.sql(
            f"CREATE TABLE lake.bench.tiny ({_COLUMNS}) USING iceberg PARTITIONED BY (days(ts), bucket(16, id))"
        )
        session.sql("INSERT INTO lake.bench.tiny (id, ts) VALUES (1, TIMESTAMP '2026-11-18 09:30:00')")
        session.sql(
            f"CREATE TABLE lake.bench.made ({_COLUMNS}) USING iceberg PARTITIONED BY (days(ts), bucket(16, id))"
            " TBLPROPERTIES ('format-version'='2', 'write.metadata.metrics.default'='full')"
        )
    catalog = session._jsparkSession.sessionState().catalogManager().catalog("lake").icebergCatalog()
    identifier = session._jvm.org.apache.iceberg.catalog.TableIdentifier.parse("bench.made")
    table, first = catalog.loadTable(identifier), 0 if what == "make" else int(sys.argv[4]) // PER_MANIFEST + 1
    files = maker(session)
    for number in range(-(-count // PER_MANIFEST)):
        size = min(PER_MANIFEST, count - number * PER_MANIFEST)
        files.append(table, first + number, size, DAYS_PER_COMMIT)


if __name__ == "__main__":
    main()
