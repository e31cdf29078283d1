package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What the metrics of a job say, against changes whose outcome is known. */
class MetricsTest {
    private static final InMemoryReporter REPORTER = InMemoryReporter.createWithRetainedMetrics();

    private static final long MANY = 200;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER = new MiniClusterExtension(
            new MiniClusterResourceConfiguration.Builder().setNumberTaskManagers(1)
                    .setNumberSlotsPerTaskManager(2)
                    .setConfiguration(REPORTER.addToConfiguration(new Configuration())).build());

    @TempDir Path folder;

    /** Five changes that apply, then one of each other outcome, a delete, and an inversion. */
    private static final class EachOutcome implements Script.Steps<RowData> {
        private static final long serialVersionUID = 1L;

        @Override
        public int count(int subtask) {
            return 2;
        }

        @Override
        public void emit(int step, int subtask, int subtasks, Consumer<RowData> out) {
            if (subtask != 0) {
                return;
            }
            if (step == 0) {
                for (long key = 1; key <= 4; ++key) {
                    out.accept(TestRows.row(RowKind.INSERT, key, "a", 10));
                }
                out.accept(TestRows.row(RowKind.DELETE, 5, "a", 10));
                return;
            }
            out.accept(TestRows.row(RowKind.UPDATE_AFTER, 1, "older", 9));
            out.accept(TestRows.row(RowKind.UPDATE_AFTER, 2, "a", 10));
            out.accept(TestRows.row(RowKind.UPDATE_AFTER, 3, "other", 10));
            out.accept(TestRows.row(RowKind.DELETE, 4, "a", 11));
            out.accept(TestRows.row(RowKind.INSERT, 6, "a", 1));
            out.accept(TestRows.row(RowKind.INSERT, 6, "b", 2));
            for (long key = MANY; key < 2 * MANY; ++key) {
                out.accept(TestRows.row(RowKind.INSERT, key, "m", 1));
            }
        }
    }

    @Test
    void outcomesTombstonesAndCommits() throws Exception {
        String uri = folder.resolve("metrics.lance").toString();
        SinkConfig config = TestRows.uncompacted(uri, List.of("seq"), "quarantine");
        StreamExecutionEnvironment env = Harness.environment(2, folder);
        env.addSource(new Script<>(new EachOutcome()), InternalTypeInfo.of(TestRows.TYPE))
                .sinkTo(new LastwordSink(config));
        env.execute();
        assertEquals(7 + MANY, sum("changesApplied"));
        assertEquals(1, sum("changesStale"));
        assertEquals(1, sum("changesRepeat"));
        assertEquals(1, sum("changesConflict"));
        assertEquals(2, sum("tombstones"));
        assertEquals(2, sum("commits"));
        assertTrue(sum("commitMillis") > 0);
        assertEquals(11 + MANY, sum("numRecordsSend"));
        assertTrue(sum("numBytesSend") > 0);
        assertEquals(1, sum("rowsCollapsed"));
        assertEquals(1, sum("suspectedInversions"));
        // Everything is sealed: what is left is what an empty batch takes.
        assertTrue(sum("bytesHeld") < 100 * MANY, sum("bytesHeld") + " bytes held");
        JsonNode table = Harness.read(uri);
        assertEquals(table.get("version").asLong(), sum("lanceVersion"));
        Map<Long, String> rows = Harness.mapOf(table, "k", "v");
        rows.keySet().removeIf(key -> key >= MANY);
        assertEquals(Map.of(1L, "a", 2L, "a", 3L, "a", 6L, "b"), rows);
    }

    /** Over all subtasks; the committers other than the one that commits have nothing to add. */
    private static long sum(String name) {
        List<Metric> found = REPORTER.getMetricsByGroup().values().stream()
                .filter(group -> group.containsKey(name)).map(group -> group.get(name)).toList();
        assertTrue(!found.isEmpty(), "no metric " + name);
        return found.stream().mapToLong(MetricsTest::valueOf).sum();
    }

    private static long valueOf(Metric metric) {
        if (metric instanceof Counter counter) {
            return counter.getCount();
        }
        return ((Number) ((Gauge<?>) metric).getValue()).longValue();
    }
}
