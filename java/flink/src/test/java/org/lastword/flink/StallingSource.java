package org.lastword.flink;

import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;

import java.nio.charset.StandardCharsets;

/**
 * Emits nothing, and holds one checkpoint up until Flink gives it up, long after the sink of the
 * same job has handed its batches over. Notes what could be read of the table at that moment.
 */
final class StallingSource implements SourceFunction<Long>, CheckpointedFunction,
        CheckpointListener {
    private static final long serialVersionUID = 1L;
    private static final long STALL_MILLIS = 1500;
    private static final int STALLS_AT = 3;

    private static volatile boolean stalled;
    private static volatile long[] seenAtAbort;

    private final String uri;
    private final int steps;
    private volatile boolean running = true;

    /** Ends when the script of the job has emitted `steps` steps. */
    StallingSource(String uri, int steps) {
        this.uri = uri;
        this.steps = steps;
        stalled = false;
        seenAtAbort = null;
    }

    /** Rows of the table, and steps that were emitted, when the stalled checkpoint was given up. */
    static long[] seenAtAbort() {
        return seenAtAbort;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        if (seenAtAbort == null && Script.REACHED.get() >= STALLS_AT) {
            stalled = true;
            Thread.sleep(STALL_MILLIS);
        }
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {}

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        // Others are given up too: before all tasks run, and when the job ends.
        if (!stalled || seenAtAbort != null) {
            return;
        }
        long rows = TableShape.json().readTree(
                Native.describe(uri.getBytes(StandardCharsets.UTF_8), 0)).get("rows").asLong();
        seenAtAbort = new long[] {rows, Script.REACHED.get()};
    }

    @Override
    public void run(SourceContext<Long> context) throws Exception {
        while (running && Script.REACHED.get() < steps) {
            Thread.sleep(10);
        }
    }

    @Override
    public void cancel() {
        running = false;
    }
}
