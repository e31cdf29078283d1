package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Old versions of the table stay as long as the statement says. */
class RetentionTest {
    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(1)
                    .setNumberSlotsPerTaskManager(1).build());

    private static final int COMMITS = 40;

    @TempDir Path folder;

    /** One row a checkpoint. */
    private static final class OneRowEach implements Script.Steps<Row> {
        private static final long serialVersionUID = 1L;

        @Override
        public int count(int subtask) {
            return COMMITS;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<Row> out) {
            out.accept(Row.of((long) step));
        }
    }

    private int versionsLeft(String name, String options) throws Exception {
        String uri = folder.resolve(name + ".lance").toString();
        StreamExecutionEnvironment env = Harness.environment(1, folder, 20);
        StreamTableEnvironment tables = Harness.tables(env);
        TypeInformation<Row> type = Types.ROW_NAMED(new String[] {"k"}, Types.LONG);
        tables.createTemporaryView("numbers",
                tables.fromDataStream(env.addSource(new Script<>(new OneRowEach()), type)));
        tables.executeSql("CREATE TABLE t (k BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH "
                + "('connector' = 'lastword', 'uri' = '" + uri + "', 'durability' = 'process', "
                + "'compaction' = 'false'" + options + ")");
        tables.executeSql("INSERT INTO t SELECT * FROM numbers").await();
        assertEquals(COMMITS, Harness.read(uri).get("rows").size());
        return Harness.history(uri).size();
    }

    @Test
    void olderVersionsGo() throws Exception {
        int all = versionsLeft("default", "");
        assertTrue(all >= COMMITS, all + " versions");
        int few = versionsLeft("few", ", 'keep.versions' = '3', 'keep.for' = '0 s', "
                + "'keep.ratio' = '0'");
        assertTrue(few < COMMITS / 2, few + " versions");
        // Younger than an hour, and no more than so many times the live data.
        int young = versionsLeft("young", ", 'keep.versions' = '3', 'keep.for' = '1 h', "
                + "'keep.ratio' = '1000'");
        assertTrue(young >= COMMITS, young + " versions");
    }
}
