package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;

/** Failures wherever they hurt; the table then equals what the test computed beside it. */
class FailureTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(2)
                    .setNumberSlotsPerTaskManager(3).build());

    private static final RowType ROW = (RowType) DataTypes.ROW(
            DataTypes.FIELD("k", DataTypes.BIGINT().notNull()),
            DataTypes.FIELD("v", DataTypes.STRING()),
            DataTypes.FIELD("seq", DataTypes.BIGINT())).getLogicalType();

    @TempDir Path folder;

    private SinkConfig config(String uri, List<String> sequence, String options) {
        TableShape shape = TableShape.of(ROW, new int[] {0}, Map.of(), "lastword_row");
        String table = shape.toJson().put("durability", "process").toString();
        return new SinkConfig(uri, UUID.randomUUID().toString(), shape,
                table.substring(0, table.length() - 1) + options + "}",
                SinkConfig.writerOptions(shape, sequence, "own"), 1 << 20, 10_000);
    }

    /** A random, valid changelog: what comes of it is computed row by row while it is made. */
    private static final class RandomChangelog implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;
        private final int steps;
        private final int rowsPerStep;
        private final int keys;
        private final long seed;

        RandomChangelog(int steps, int rowsPerStep, int keys, long seed) {
            this.steps = steps;
            this.rowsPerStep = rowsPerStep;
            this.keys = keys;
            this.seed = seed;
        }

        @Override
        public int count() {
            return steps;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            // The whole history up to the step is made again: it depends on nothing but the seed.
            Map<Long, String> live = new TreeMap<>();
            for (int i = 0; i <= step; ++i) {
                make(i, subtask, subtasks, live, i == step ? out : row -> {});
            }
        }

        void make(int step, int subtask, int subtasks, Map<Long, String> live,
                Consumer<RowData> out) {
            Random random = new Random(seed * 31 + step * 1009L + subtask);
            for (int i = 0; i < rowsPerStep / subtasks; ++i) {
                long key = (long) random.nextInt(keys / subtasks) * subtasks + subtask;
                String old = live.get(key);
                String value = "v" + step + "." + i;
                if (old == null) {
                    out.accept(row(RowKind.INSERT, key, value, 0));
                    live.put(key, value);
                } else if (random.nextInt(4) == 0) {
                    out.accept(row(RowKind.DELETE, key, old, 0));
                    live.remove(key);
                } else {
                    out.accept(row(RowKind.UPDATE_BEFORE, key, old, 0));
                    out.accept(row(RowKind.UPDATE_AFTER, key, value, 0));
                    live.put(key, value);
                }
            }
        }

        Map<Long, String> outcome(int subtasks) {
            Map<Long, String> live = new TreeMap<>();
            for (int subtask = 0; subtask < subtasks; ++subtask) {
                for (int step = 0; step < steps; ++step) {
                    make(step, subtask, subtasks, live, row -> {});
                }
            }
            return live;
        }
    }

    private static RowData row(RowKind kind, long key, String value, long sequence) {
        GenericRowData row = new GenericRowData(kind, 3);
        row.setField(0, key);
        row.setField(1, StringData.fromString(value));
        row.setField(2, sequence);
        return row;
    }

    @Test
    void randomChangelogWithFailuresEverywhere() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        String uri = folder.resolve("random.lance").toString();
        RandomChangelog changelog = new RandomChangelog(25, 6000, 3000, seed);
        FaultySink.plan(Map.of(FaultySink.Place.WRITE, 60_000, FaultySink.Place.PREPARE_COMMIT, 20,
                FaultySink.Place.BEFORE_COMMIT, 6, FaultySink.Place.AFTER_COMMIT, 5), 3);
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        env.addSource(new Script<>(changelog), InternalTypeInfo.of(ROW))
                .sinkTo(new FaultySink(config(uri, List.of(), "")));
        env.execute();
        for (FaultySink.Place place : FaultySink.Place.values()) {
            assertTrue(FaultySink.failures(place) > 0, place + " never failed");
        }
        assertEquals(changelog.outcome(3), new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }

    /** A savepoint in the middle, then fewer writers, as another submission: an upgrade. */
    @Test
    void savepointAndRescale() throws Exception {
        String uri = folder.resolve("rescaled.lance").toString();
        RandomChangelog changelog = new RandomChangelog(20, 3000, 900, 11);
        SinkConfig before = config(uri, List.of(), "");
        JobClient job = pipeline(changelog, before, 3, null).executeAsync();
        while (!TableShape.json().readTree(Native.describe(utf8(uri), 0)).get("exists")
                .asBoolean()) {
            Thread.sleep(20);
        }
        String savepoint = job.stopWithSavepoint(false, folder.resolve("savepoints").toString(),
                SavepointFormatType.CANONICAL).get();
        pipeline(changelog, config(uri, List.of(), ""), 2, savepoint).execute();
        assertEquals(changelog.outcome(3), new TreeMap<>(Harness.readMap(uri, "k", "v")));
        // And once more from the same savepoint: numbers of checkpoints repeat, rows come again.
        pipeline(changelog, config(uri, List.of(), ""), 1, savepoint).execute();
        assertEquals(changelog.outcome(3), new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }

    private StreamExecutionEnvironment pipeline(RandomChangelog changelog, SinkConfig config,
            int writers, String savepoint) {
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        if (savepoint != null) {
            Configuration restore = new Configuration();
            restore.setString("execution.state-recovery.path", savepoint);
            env.configure(restore);
        }
        env.addSource(new Script<>(changelog), InternalTypeInfo.of(ROW)).uid("script")
                .sinkTo(new LastwordSink(config)).uid("lake").setParallelism(writers);
        return env;
    }

    /** +I and -D of a key from different subtasks, in any order of arrival. */
    private static final class Inverted implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;
        private static final int KEYS = 2000;

        @Override
        public int count() {
            return 2;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            for (long key = 0; key < KEYS; ++key) {
                // Half of the keys get both in one checkpoint, half of them the delete first.
                boolean insert = subtask == 0 && step == (key % 4 < 2 ? 0 : 1);
                boolean delete = subtask == 1 && step == (key % 4 == 0 || key % 4 == 3 ? 0 : 1);
                if (insert) {
                    out.accept(row(RowKind.INSERT, key, "a", 1));
                }
                if (delete) {
                    out.accept(row(RowKind.DELETE, key, "a", 2));
                }
                if (subtask == 2 && step == 1 && key % 2 == 0) {
                    out.accept(row(RowKind.INSERT, key + KEYS, "b", 3));
                }
            }
        }
    }

    @Test
    void sequenceColumnsMakeArrivalIrrelevant() throws Exception {
        String uri = folder.resolve("sequence.lance").toString();
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        env.addSource(new Script<>(new Inverted()), InternalTypeInfo.of(ROW))
                .sinkTo(new LastwordSink(config(uri, List.of("seq"), "")));
        env.execute();
        Map<Long, String> rows = Harness.readMap(uri, "k", "v");
        assertEquals(Inverted.KEYS / 2, rows.size());
        assertTrue(rows.keySet().stream().allMatch(key -> key >= Inverted.KEYS));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Two contents of one version: the job ends with the library's own words, the JVM does not. */
    @Test
    void aConflictFailsTheJobWithItsKind() throws Exception {
        String uri = folder.resolve("conflict.lance").toString();
        List<RowData> rows = new ArrayList<>();
        rows.add(row(RowKind.INSERT, 7, "a", 1));
        rows.add(row(RowKind.INSERT, 7, "b", 1));
        StreamExecutionEnvironment env = Harness.environment(1, folder);
        var config = new Configuration();
        config.setString("restart-strategy.type", "none");
        env.configure(config);
        env.fromData(rows, InternalTypeInfo.of(ROW))
                .sinkTo(new LastwordSink(config(uri, List.of("seq"), "")));
        Throwable error = assertThrows(Exception.class, env::execute);
        StringBuilder all = new StringBuilder();
        for (; error != null; error = error.getCause()) {
            all.append(error.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains("version_conflict"), all.toString());
        // The same JVM goes on, and the table is as it was.
        JsonNode table =
                TableShape.json().readTree(Native.describe(utf8(uri), 0));
        assertNotNull(table);
    }

    /** Writers that end early hand everything over. */
    @Test
    void aWriterThatEndsEarlyLosesNothing() throws Exception {
        String uri = folder.resolve("early.lance").toString();
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        env.addSource(new Script<>(new EndsEarly()), InternalTypeInfo.of(ROW))
                .sinkTo(new LastwordSink(config(uri, List.of(), "")));
        env.execute();
        assertEquals(100 + 100 + 400, Harness.readMap(uri, "k", "v").size());
    }

    private static final class EndsEarly implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;

        @Override
        public int count() {
            return 4;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            for (long i = 0; i < 100; ++i) {
                if (step == 0 || subtask == 0) {
                    out.accept(row(RowKind.INSERT, subtask * 1000L + step * 100 + i, "v", 0));
                }
            }
        }
    }
}
