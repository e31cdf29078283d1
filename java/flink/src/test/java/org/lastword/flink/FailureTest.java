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
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Failures wherever they hurt; the table then equals what the test computed beside it. */
class FailureTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(2)
                    .setNumberSlotsPerTaskManager(3).build());

    @TempDir Path folder;

    /** A savepoint in the middle, then fewer writers, as another submission: an upgrade. */
    @Test
    void savepointAndRescale() throws Exception {
        String uri = folder.resolve("rescaled.lance").toString();
        RandomChangelog changelog = new RandomChangelog(20, 3000, 900, 11, false);
        SinkConfig before = TestRows.sink(uri, List.of());
        JobClient job = pipeline(changelog, before, 3, null).executeAsync();
        while (!TableShape.json().readTree(Native.describe(utf8(uri), 0)).get("exists")
                .asBoolean()) {
            Thread.sleep(20);
        }
        String savepoint = job.stopWithSavepoint(false, folder.resolve("savepoints").toString(),
                SavepointFormatType.CANONICAL).get();
        pipeline(changelog, TestRows.sink(uri, List.of()), 2, savepoint).execute();
        assertEquals(changelog.outcome(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
        // And once more from the same savepoint: numbers of checkpoints repeat, rows come again.
        pipeline(changelog, TestRows.sink(uri, List.of()), 1, savepoint).execute();
        assertEquals(changelog.outcome(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }

    private StreamExecutionEnvironment pipeline(RandomChangelog changelog, SinkConfig config,
            int writers, String savepoint) {
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        if (savepoint != null) {
            Configuration restore = new Configuration();
            restore.setString("execution.state-recovery.path", savepoint);
            env.configure(restore);
        }
        env.addSource(new Script<>(changelog), InternalTypeInfo.of(TestRows.TYPE)).uid("script")
                .sinkTo(new LastwordSink(config)).uid("lake").setParallelism(writers);
        return env;
    }

    /** +I and -D of a key from different subtasks, in any order of arrival. */
    private static final class Inverted implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;
        private static final int KEYS = 2000;

        @Override
        public int count(int subtask) {
            return 2;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            for (long key = 0; key < KEYS; ++key) {
                // Half of the keys get both in one checkpoint, half of them the delete first.
                boolean insert = subtask == 0 && step == (key % 4 < 2 ? 0 : 1);
                boolean delete = subtask == 1 && step == (key % 4 == 0 || key % 4 == 3 ? 0 : 1);
                if (insert) {
                    out.accept(TestRows.row(RowKind.INSERT, key, "a", 1));
                }
                if (delete) {
                    out.accept(TestRows.row(RowKind.DELETE, key, "a", 2));
                }
                if (subtask == 2 && step == 1 && key % 2 == 0) {
                    out.accept(TestRows.row(RowKind.INSERT, key + KEYS, "b", 3));
                }
            }
        }
    }

    @Test
    void sequenceColumnsMakeArrivalIrrelevant() throws Exception {
        String uri = folder.resolve("sequence.lance").toString();
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        env.addSource(new Script<>(new Inverted()), InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new LastwordSink(TestRows.sink(uri, List.of("seq"))));
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
        rows.add(TestRows.row(RowKind.INSERT, 7, "a", 1));
        rows.add(TestRows.row(RowKind.INSERT, 7, "b", 1));
        StreamExecutionEnvironment env = Harness.environment(1, folder);
        var config = new Configuration();
        config.setString("restart-strategy.type", "none");
        env.configure(config);
        env.fromData(rows, InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new LastwordSink(TestRows.sink(uri, List.of("seq"))));
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

    /** A source that ends early, and without a key its writer: what it had is handed over. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWriterThatEndsEarlyLosesNothing(boolean keyed) throws Exception {
        String uri = folder.resolve("early.lance").toString();
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        env.addSource(new Script<>(new EndsEarly()), InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new LastwordSink(
                        keyed ? TestRows.sink(uri, List.of()) : TestRows.appends(uri)));
        env.execute();
        assertEquals(100 + 100 + 400, Harness.readMap(uri, "k", "v").size());
    }

    private static final class EndsEarly implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;

        @Override
        public int count(int subtask) {
            return subtask == 0 ? 4 : 1;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            for (long i = 0; i < 100; ++i) {
                out.accept(TestRows.row(RowKind.INSERT, subtask * 1000L + step * 100 + i, "v", 0));
            }
        }
    }

    /**
     * New keys in each step, all from one subtask: a barrier never comes between rows of a step, so
     * that each is one checkpoint.
     */
    private static final class Growing implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;
        private static final int STEPS = 8;
        private static final int ROWS = 50;

        @Override
        public int count(int subtask) {
            return STEPS;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            for (long i = 0; subtask == 0 && i < ROWS; ++i) {
                out.accept(TestRows.row(RowKind.INSERT, step * ROWS + i, "v", 0));
            }
        }
    }

    /** A checkpoint that comes again after it was committed changes nothing, not the version. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aReplayedCheckpointAddsNoVersion(int parallelism) throws Exception {
        long[] versions = new long[2];
        for (int failing = 0; failing < 2; ++failing) {
            FaultySink.plan(failing == 0 ? Map.of() : Map.of(FaultySink.Place.AFTER_COMMIT, 3), 3);
            String uri = folder.resolve("replayed" + failing + ".lance").toString();
            StreamExecutionEnvironment env = Harness.environment(parallelism, folder);
            env.addSource(new Script<>(new Growing()), InternalTypeInfo.of(TestRows.TYPE))
                    .sinkTo(new FaultySink(TestRows.uncompacted(uri, List.of(), "fail")));
            env.execute();
            assertEquals(failing == 0 ? 0 : 3, FaultySink.failures(FaultySink.Place.AFTER_COMMIT));
            JsonNode table = Harness.read(uri);
            assertEquals(Growing.STEPS * Growing.ROWS, Harness.mapOf(table, "k", "v").size());
            versions[failing] = table.get("version").asLong();
        }
        assertEquals(versions[0], versions[1]);
    }

    /**
     * A checkpoint that Flink gives up becomes visible with the next one: not before, and whole.
     * The job does not restart in between.
     */
    @Test
    void anAbortedCheckpointComesWithTheNext() throws Exception {
        String uri = folder.resolve("aborted.lance").toString();
        Script.REACHED.set(0);
        StreamExecutionEnvironment env = Harness.environment(3, folder);
        Configuration config = new Configuration();
        config.setString("execution.checkpointing.timeout", "600 ms");
        config.setString("execution.checkpointing.tolerable-failed-checkpoints", "1000");
        config.setString("restart-strategy.type", "none");
        env.configure(config);
        env.addSource(new Script<>(new Growing()), InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new LastwordSink(TestRows.sink(uri, List.of())));
        env.addSource(new StallingSource(uri, Growing.STEPS)).sinkTo(new DiscardingSink<>());
        env.execute();
        long[] seen = StallingSource.seenAtAbort();
        assertTrue(seen[0] < seen[1] * Growing.ROWS, seen[0] + " rows after " + seen[1]);
        assertEquals(Growing.STEPS * Growing.ROWS, Harness.readMap(uri, "k", "v").size());
    }
}
