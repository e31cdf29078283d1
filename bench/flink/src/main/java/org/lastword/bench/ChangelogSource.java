package org.lastword.bench;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.table.data.RowData;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Emits a changelog as fast as it is taken, and notes when it began and when it ended. */
final class ChangelogSource extends RichParallelSourceFunction<RowData>
        implements CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final int ROWS_A_LOCK = 64;

    /** Subtasks that have emitted all they have. */
    static final AtomicInteger ENDED = new AtomicInteger();
    /** Called once, with the first event. */
    static volatile Runnable onBegin = () -> {};

    private final Changelog changelog;
    private volatile boolean running = true;
    private transient ListState<Long> state;
    private long next = -1;

    ChangelogSource(Changelog changelog) {
        this.changelog = changelog;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        state = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("next", Long.class));
        if (context.isRestored()) {
            throw new IllegalStateException("a benchmark whose job restarts measures nothing");
        }
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        state.update(List.of(next));
    }

    @Override
    public void run(SourceContext<RowData> context) {
        int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
        byte[] pool = Changelog.pool();
        next = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        begin();
        while (running && next < changelog.events) {
            synchronized (context.getCheckpointLock()) {
                for (int i = 0; i < ROWS_A_LOCK && next < changelog.events; ++i) {
                    context.collect(changelog.row(next, subtasks, pool));
                    next += subtasks;
                }
            }
        }
        ENDED.incrementAndGet();
    }

    private static synchronized void begin() {
        onBegin.run();
        onBegin = () -> {};
    }

    @Override
    public void cancel() {
        running = false;
    }
}
