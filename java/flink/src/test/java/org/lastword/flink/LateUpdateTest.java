package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Updates that come later than the delete that outranks them, with compactions between delete and
 * update, by another program or by the committer itself: engines that forget a deletion when they
 * compact bring such rows back.
 */
class LateUpdateTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(1)
                    .setNumberSlotsPerTaskManager(4).build());

    private static final TypeInformation<Row> TYPE = Types.ROW_NAMED(
            new String[] {"k", "v", "seq"}, Types.LONG, Types.STRING, Types.LONG);
    private static final Schema SCHEMA = Schema.newBuilder().column("k", "BIGINT NOT NULL")
            .column("v", "STRING").column("seq", "BIGINT").primaryKey("k").build();
    private static final AtomicInteger COMPACTIONS = new AtomicInteger();

    private static final long KEYS = 300;
    /** Commits between the deletes and the late updates: enough for a merge of small files. */
    private static final int QUIET_STEPS = 8;

    @TempDir Path folder;

    /** Deletes of all keys, then late updates of them, and newer ones of every third. */
    private static final class LateUpdates implements Script.Steps<Row> {
        private static final long serialVersionUID = 1L;
        /** Of the table that another program compacts between steps; null where none does. */
        private final String uri;

        LateUpdates(String uri) {
            this.uri = uri;
        }

        @Override
        public int count(int subtask) {
            return 4 + QUIET_STEPS;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<Row> out) {
            int late = 2 + QUIET_STEPS;
            boolean compacts = step == 1 || step == 2 || step == late || step == late + 1;
            if (subtask == 0 && compacts && uri != null) {
                Harness.compact(uri);
                COMPACTIONS.incrementAndGet();
            }
            for (long key = 0; key < KEYS; ++key) {
                // The changes of a key leave through different subtasks.
                if (Math.floorMod(key + step, subtasks) != subtask) {
                    continue;
                }
                if (step == 0) {
                    out.accept(Row.ofKind(RowKind.INSERT, key, "first", 10L));
                } else if (step == 1) {
                    out.accept(Row.ofKind(RowKind.DELETE, key, "first", 20L));
                } else if (step == late) {
                    out.accept(Row.ofKind(RowKind.UPDATE_AFTER, key, "late", 15L));
                } else if (step == late + 1 && key % 3 == 0) {
                    out.accept(Row.ofKind(RowKind.UPDATE_AFTER, key, "newer", 25L));
                }
            }
            if (step > 1 && step < late && subtask == 0) {
                out.accept(Row.ofKind(RowKind.INSERT, KEYS + step, "other", 1L));
            }
        }
    }

    /** The late updates once more, in a job of their own. */
    private static final class Again implements Script.Steps<Row> {
        private static final long serialVersionUID = 1L;

        @Override
        public int count(int subtask) {
            return 1;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<Row> out) {
            for (long key = subtask; key < KEYS; key += subtasks) {
                out.accept(Row.ofKind(RowKind.UPDATE_AFTER, key, "late again", 19L));
            }
        }
    }

    private void run(Script.Steps<Row> steps, String uri, int parallelism, String options)
            throws Exception {
        StreamExecutionEnvironment env = Harness.environment(parallelism, folder);
        StreamTableEnvironment tables = Harness.tables(env);
        tables.createTemporaryView("changes", tables.fromChangelogStream(
                env.addSource(new Script<>(steps), TYPE), SCHEMA, ChangelogMode.all()));
        tables.executeSql("CREATE TABLE t (k BIGINT, v STRING, seq BIGINT, PRIMARY KEY (k) NOT "
                + "ENFORCED) WITH ('connector' = 'lastword', 'uri' = '" + uri
                + "', 'sequence.columns' = 'seq'" + options + ")");
        tables.executeSql("INSERT INTO t SELECT * FROM changes").await();
    }

    private static Map<Long, String> expected() {
        Map<Long, String> expected = new TreeMap<>();
        for (long key = 0; key < KEYS; key += 3) {
            expected.put(key, "newer");
        }
        for (long step = 2; step < 2 + QUIET_STEPS; ++step) {
            expected.put(KEYS + step, "other");
        }
        return expected;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aDeletedRowStaysDeleted(int parallelism) throws Exception {
        String uri = folder.resolve("late.lance").toString();
        COMPACTIONS.set(0);
        run(new LateUpdates(uri), uri, parallelism, "");
        assertTrue(COMPACTIONS.get() >= 4);
        assertEquals(expected(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
        Harness.compact(uri);
        run(new Again(), uri, parallelism, "");
        Harness.compact(uri);
        assertEquals(expected(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }

    /** Two fragments become one, so that the committer compacts behind almost every commit. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void theCommittersOwnCompactionForgetsNoDelete(int parallelism) throws Exception {
        String uri = folder.resolve("own.lance").toString();
        String eager = ", 'compaction.fragments' = '2'";
        run(new LateUpdates(null), uri, parallelism, eager);
        List<String> history = Harness.history(uri);
        // The deletes are the second update, the late ones are among the last two.
        List<String> quiet = history.subList(0, history.lastIndexOf("Update"));
        assertTrue(quiet.stream().filter("Rewrite"::equals).count() >= 4, history.toString());
        assertEquals(expected(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
        run(new Again(), uri, parallelism, eager);
        assertEquals(expected(), new TreeMap<>(Harness.readMap(uri, "k", "v")));
    }
}
