package org.lastword.flink;

import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreCommitTopology;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The sink of the connector, which fails where a test says so, once for each planned call. */
final class FaultySink
        implements Sink<RowData>,
                SupportsWriterState<RowData, WriterState>,
                SupportsCommitter<Committable>,
                SupportsPreWriteTopology<RowData>,
                SupportsPreCommitTopology<Committable, Committable> {
    private static final long serialVersionUID = 1L;

    /** Where a failure hurts. */
    enum Place { WRITE, PREPARE_COMMIT, BEFORE_COMMIT, AFTER_COMMIT }

    private static final Map<Place, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final Map<Place, AtomicInteger> FAILED = new ConcurrentHashMap<>();
    private static volatile Map<Place, Integer> every = Map.of();
    private static volatile int failuresMax;

    private final LastwordSink sink;

    FaultySink(SinkConfig config) {
        sink = new LastwordSink(config);
    }

    /** Fails every N-th call of a place, at most `most` times each. */
    static void plan(Map<Place, Integer> everyCalls, int most) {
        CALLS.clear();
        FAILED.clear();
        every = everyCalls;
        failuresMax = most;
    }

    static int failures(Place place) {
        return FAILED.getOrDefault(place, new AtomicInteger()).get();
    }

    private static void reach(Place place) throws IOException {
        int call = CALLS.computeIfAbsent(place, p -> new AtomicInteger()).incrementAndGet();
        Integer n = every.get(place);
        if (n != null && call % n == 0
                && FAILED.computeIfAbsent(place, p -> new AtomicInteger()).get() < failuresMax) {
            FAILED.get(place).incrementAndGet();
            throw new IOException("planned failure: " + place);
        }
    }

    private static final class Writer
            implements CommittingSinkWriter<RowData, Committable>,
                    StatefulSinkWriter<RowData, WriterState> {
        private final LastwordWriter writer;

        Writer(LastwordWriter writer) {
            this.writer = writer;
        }

        @Override
        public void write(RowData row, Context context) throws IOException {
            reach(Place.WRITE);
            writer.write(row, context);
        }

        @Override
        public void flush(boolean endOfInput) {
            writer.flush(endOfInput);
        }

        @Override
        public Collection<Committable> prepareCommit() throws IOException {
            reach(Place.PREPARE_COMMIT);
            return writer.prepareCommit();
        }

        @Override
        public List<WriterState> snapshotState(long checkpointId) {
            return writer.snapshotState(checkpointId);
        }

        @Override
        public void close() {
            writer.close();
        }
    }

    private static final class FaultyCommitter implements Committer<Committable> {
        private final Committer<Committable> committer;

        FaultyCommitter(Committer<Committable> committer) {
            this.committer = committer;
        }

        @Override
        public void commit(Collection<CommitRequest<Committable>> requests)
                throws IOException, InterruptedException {
            reach(Place.BEFORE_COMMIT);
            committer.commit(requests);
            reach(Place.AFTER_COMMIT);
        }

        @Override
        public void close() throws Exception {
            committer.close();
        }
    }

    @Override
    public DataStream<RowData> addPreWriteTopology(DataStream<RowData> rows) {
        return sink.addPreWriteTopology(rows);
    }

    @Override
    public Writer createWriter(WriterInitContext context) throws IOException {
        return new Writer(sink.createWriter(context));
    }

    @Override
    public Writer restoreWriter(WriterInitContext context, Collection<WriterState> state)
            throws IOException {
        return new Writer(sink.restoreWriter(context, state));
    }

    @Override
    public SimpleVersionedSerializer<WriterState> getWriterStateSerializer() {
        return sink.getWriterStateSerializer();
    }

    @Override
    public DataStream<CommittableMessage<Committable>> addPreCommitTopology(
            DataStream<CommittableMessage<Committable>> messages) {
        return sink.addPreCommitTopology(messages);
    }

    @Override
    public SimpleVersionedSerializer<Committable> getWriteResultSerializer() {
        return sink.getWriteResultSerializer();
    }

    @Override
    public Committer<Committable> createCommitter(CommitterInitContext context) {
        return new FaultyCommitter(sink.createCommitter(context));
    }

    @Override
    public SimpleVersionedSerializer<Committable> getCommittableSerializer() {
        return sink.getCommittableSerializer();
    }
}
