package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** What a statement leaves in a table, read back with pylance. */
class AcceptanceTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(1)
                    .setNumberSlotsPerTaskManager(4).build());

    private static final TypeInformation<Row> KV =
            Types.ROW_NAMED(new String[] {"k", "v"}, Types.LONG, Types.STRING);
    private static final Schema KV_SCHEMA = Schema.newBuilder().column("k", "BIGINT NOT NULL")
            .column("v", "STRING").primaryKey("k").build();

    @TempDir Path folder;

    /** Steps of (kind, key, value); each key belongs to one subtask of the source. */
    private static final class Rows implements Script.Steps<Row> {
        private static final long serialVersionUID = 1L;
        private final List<List<Row>> steps;

        Rows(List<List<Row>> steps) {
            this.steps = steps;
        }

        @Override
        public int count(int subtask) {
            return steps.size();
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<Row> out) {
            for (Row row : steps.get(step)) {
                if (Math.floorMod((Long) row.getField(0), subtasks) == subtask) {
                    out.accept(row);
                }
            }
        }
    }

    private static Row row(String kind, long key, String value) {
        RowKind rowKind = switch (kind) {
            case "+I" -> RowKind.INSERT;
            case "-U" -> RowKind.UPDATE_BEFORE;
            case "+U" -> RowKind.UPDATE_AFTER;
            default -> RowKind.DELETE;
        };
        return Row.ofKind(rowKind, key, value);
    }

    private String run(int parallelism, String name, List<List<Row>> steps, String options)
            throws Exception {
        StreamExecutionEnvironment env = Harness.environment(parallelism, folder);
        StreamTableEnvironment tables = Harness.tables(env);
        String uri = folder.resolve(name + ".lance").toString();
        tables.createTemporaryView("changes", tables.fromChangelogStream(
                env.addSource(new Script<>(new Rows(steps)), KV).name("script"), KV_SCHEMA,
                ChangelogMode.all()));
        tables.executeSql("CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH "
                + "('connector' = 'lastword', 'uri' = '" + uri + "'" + options + ")");
        tables.executeSql("INSERT INTO t SELECT * FROM changes").await();
        return uri;
    }

    /** The whole reduction matrix, each case a key, on rows that an earlier checkpoint wrote. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void reductionMatrix(int parallelism) throws Exception {
        String[] cases = {"+I", "+U", "-D", "+I -D", "-D +I", "+U -D", "+U +U", "-D +U", "-U +U",
                "-U", "+I -U", "-U +U -D", "-U +U -U +U", "+I -D +I", "-D +I -D"};
        List<Row> seeds = new ArrayList<>();
        List<Row> changes = new ArrayList<>();
        Map<Long, String> expected = new TreeMap<>();
        for (int seeded = 0; seeded < 2; ++seeded) {
            for (int i = 0; i < cases.length; ++i) {
                long key = seeded * 100L + i;
                if (seeded == 1) {
                    seeds.add(row("+I", key, "seed"));
                }
                String last = "";
                String[] kinds = cases[i].split(" ");
                for (int j = 0; j < kinds.length; ++j) {
                    changes.add(row(kinds[j], key, "v" + j));
                    last = kinds[j].equals("+I") || kinds[j].equals("+U") ? "v" + j : null;
                }
                if (last != null) {
                    expected.put(key, last);
                }
            }
        }
        // The disjoint keys of the bug report: one is deleted, another one inserted.
        seeds.add(row("+I", 1000, "gone"));
        changes.add(row("-D", 1000, "gone"));
        changes.add(row("+I", 1001, "new"));
        expected.put(1001L, "new");
        String uri = run(parallelism, "matrix", List.of(seeds, changes), "");
        assertEquals(expected, new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }

    @Test
    void loneUpdateBeforeMayBeDropped() throws Exception {
        String uri = run(1, "drop", List.of(List.of(row("+I", 1, "a"), row("-U", 1, "a"))),
                ", 'lone-update-before' = 'drop'");
        assertEquals(Map.of(1L, "a"), Harness.readMap(uri, "k", "v"));
    }

    @Test
    void countRightAfterTheJob() throws Exception {
        List<Row> rows = new ArrayList<>();
        for (long k = 0; k < 1000; ++k) {
            rows.add(row("+I", k, "v" + k));
        }
        String uri = run(3, "count", List.of(rows), "");
        StreamTableEnvironment tables = Harness.tables(Harness.environment(2, folder));
        tables.executeSql("CREATE TABLE t (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) WITH "
                + "('connector' = 'lastword', 'uri' = '" + uri + "')");
        try (var result = tables.executeSql("SELECT SUM(c) FROM (SELECT COUNT(*) c FROM t)")
                .collect()) {
            Row last = null;
            while (result.hasNext()) {
                last = result.next();
            }
            assertEquals(1000L, last.getField(0));
        }
        try (var result = tables.executeSql("SELECT v FROM t WHERE k = 77").collect()) {
            assertEquals("v77", result.next().getField(0));
        }
    }

    @Test
    void tableWithoutKeyAppends() throws Exception {
        StreamTableEnvironment tables = Harness.tables(Harness.environment(3, folder));
        String uri = folder.resolve("append.lance").toString();
        tables.executeSql("CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'lastword', "
                + "'uri' = '" + uri + "')");
        for (int i = 0; i < 2; ++i) {
            tables.executeSql("INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, 'y')").await();
        }
        List<String> seen = new ArrayList<>();
        Harness.read(uri).get("rows").forEach(r -> seen.add(r.get("a") + r.get("b").asText()));
        assertEquals(List.of("1x", "1x", "1x", "1x", "2y", "2y"), seen.stream().sorted().toList());
    }

    @Test
    void catalogOverAFolder() throws Exception {
        StreamTableEnvironment tables = Harness.tables(Harness.environment(2, folder));
        tables.executeSql("CREATE CATALOG lake WITH ('type' = 'lastword', 'warehouse' = '"
                + folder.resolve("lake") + "')");
        tables.executeSql("USE CATALOG lake");
        tables.executeSql("CREATE TABLE orders (id INT, shop STRING, price DECIMAL(10, 2), "
                + "e ARRAY<FLOAT>, PRIMARY KEY (shop, id) NOT ENFORCED) "
                + "WITH ('column.types.e' = 'vector(2)', 'lone-update-before' = 'fail')");
        tables.executeSql("INSERT INTO orders VALUES (1, 'a', 1.50, ARRAY[CAST(1 AS FLOAT), "
                + "CAST(2 AS FLOAT)])").await();
        tables.executeSql("INSERT INTO orders VALUES (1, 'a', 2.50, CAST(NULL AS "
                + "ARRAY<FLOAT>))").await();
        assertEquals("[orders]", String.join("", List.of(tables.listTables()).toString()));
        try (var result = tables.executeSql("SELECT * FROM orders").collect()) {
            assertEquals("+I[1, a, 2.50, null]", result.next().toString());
        }
        tables.executeSql("DROP TABLE orders");
        assertEquals(0, tables.listTables().length);
    }
}
