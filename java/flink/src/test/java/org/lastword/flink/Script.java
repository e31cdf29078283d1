package org.lastword.flink;

import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;

import java.io.Serializable;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A source that emits what a test wrote down, step by step: the next step begins when a checkpoint
 * that holds the whole of the last one is complete. After a failure it goes on where the restored
 * checkpoint was.
 */
final class Script<T> extends RichParallelSourceFunction<T>
        implements CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1L;

    /** Emits step `step` of one subtask, which has `count` of them. */
    interface Steps<T> extends Serializable {
        int count(int subtask);

        void emit(int step, int subtask, int subtasks, Consumer<T> out);
    }

    /** The most steps that any subtask of the running test has emitted. */
    static final AtomicInteger REACHED = new AtomicInteger();

    private final Steps<T> steps;
    private volatile boolean running = true;
    private transient ListState<Integer> state;
    private int next;
    private final TreeMap<Long, Integer> snapshots = new TreeMap<>();
    private int completed;

    Script(Steps<T> steps) {
        this.steps = steps;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
        state = context.getOperatorStateStore()
                .getListState(new ListStateDescriptor<>("next", Integer.class));
        // Only a subtask that had ended comes back without state.
        next = context.isRestored() ? Integer.MAX_VALUE : 0;
        for (Integer restored : state.get()) {
            next = restored;
        }
        completed = next;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
        state.update(List.of(next));
        snapshots.put(context.getCheckpointId(), next);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
        var at = snapshots.floorEntry(checkpointId);
        if (at != null) {
            completed = Math.max(completed, at.getValue());
            snapshots.headMap(checkpointId, true).clear();
        }
    }

    @Override
    public void run(SourceContext<T> context) throws Exception {
        int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
        int count = steps.count(subtask);
        while (running && next < count) {
            synchronized (context.getCheckpointLock()) {
                steps.emit(next, subtask, subtasks, context::collect);
                ++next;
            }
            REACHED.accumulateAndGet(next, Math::max);
            // The last step is part of the checkpoint at the end of the input.
            while (running && next < count) {
                synchronized (context.getCheckpointLock()) {
                    if (completed >= next) {
                        break;
                    }
                }
                Thread.sleep(5);
            }
        }
    }

    @Override
    public void cancel() {
        running = false;
    }
}
