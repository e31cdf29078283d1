package org.lastword.flink;

import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.data.RowData;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One split: a version of the table and how many of its rows were given. A version never changes
 * and is read in one order, so a restored reader goes on behind them.
 */
public final class LastwordSource implements Source<RowData, LastwordSource.Split, Boolean> {
    private static final long serialVersionUID = 1L;

    private final String uri;
    private final long version;
    private final TableShape shape;

    LastwordSource(String uri, long version, TableShape shape) {
        this.uri = uri;
        this.version = version;
        this.shape = shape;
    }

    /** Version 0 is decided by the reader: what is latest when it begins. */
    record Split(long version, long rowsGiven) implements SourceSplit {
        @Override
        public String splitId() {
            return "table";
        }
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<RowData, Split> createReader(SourceReaderContext context) {
        return new LastwordSourceReader(uri, shape, context);
    }

    @Override
    public SplitEnumerator<Split, Boolean> createEnumerator(SplitEnumeratorContext<Split> context) {
        return new OneSplitEnumerator(context, new Split(version, 0));
    }

    @Override
    public SplitEnumerator<Split, Boolean> restoreEnumerator(
            SplitEnumeratorContext<Split> context, Boolean assigned) {
        return new OneSplitEnumerator(context, assigned ? null : new Split(version, 0));
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
        return new SplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<Boolean> getEnumeratorCheckpointSerializer() {
        return new AssignedSerializer();
    }

    /** Gives the one split to whoever asks first. */
    private static final class OneSplitEnumerator implements SplitEnumerator<Split, Boolean> {
        private final SplitEnumeratorContext<Split> context;
        private Split left;

        OneSplitEnumerator(SplitEnumeratorContext<Split> context, Split left) {
            this.context = context;
            this.left = left;
        }

        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {
            if (left != null) {
                context.assignSplit(left, subtask);
                left = null;
            }
            context.signalNoMoreSplits(subtask);
        }

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {
            if (!splits.isEmpty()) {
                left = splits.get(0);
            }
        }

        @Override
        public void addReader(int subtask) {}

        @Override
        public Boolean snapshotState(long checkpointId) {
            return left == null;
        }

        @Override
        public void close() {}
    }

    private static final class SplitSerializer implements SimpleVersionedSerializer<Split> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Split split) {
            return ByteBuffer.allocate(16).putLong(split.version()).putLong(split.rowsGiven())
                    .array();
        }

        @Override
        public Split deserialize(int version, byte[] bytes) throws IOException {
            checkVersion(version);
            ByteBuffer in = ByteBuffer.wrap(bytes);
            return new Split(in.getLong(), in.getLong());
        }
    }

    private static final class AssignedSerializer implements SimpleVersionedSerializer<Boolean> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(Boolean assigned) {
            return new byte[] {(byte) (assigned ? 1 : 0)};
        }

        @Override
        public Boolean deserialize(int version, byte[] bytes) throws IOException {
            checkVersion(version);
            return bytes[0] != 0;
        }
    }

    private static void checkVersion(int version) throws IOException {
        if (version != 1) {
            throw new IOException("the state of a scan has version " + version
                    + ", this connector reads version 1");
        }
    }
}
