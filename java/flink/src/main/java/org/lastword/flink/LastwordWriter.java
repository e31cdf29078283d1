package org.lastword.flink;

import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.table.data.RowData;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/**
 * Collapses the rows of its keys natively and seals what is left at every checkpoint. It never sees
 * the table. What it has not sealed is not part of a checkpoint: after a restart those rows come
 * again.
 */
final class LastwordWriter
        implements CommittingSinkWriter<RowData, Committable>,
                StatefulSinkWriter<RowData, WriterState> {
    private static final int HAND_OVER_BYTES = 1 << 18;
    private static final int STAT_BYTES = 0;
    private static final int STAT_COLLAPSED = 3;
    private static final int STAT_INVERSIONS = 4;

    private final SinkConfig config;
    private final int subtask;
    private final RowEncoder encoder;
    private final SinkWriterMetricGroup metrics;
    private final List<Committable> sealed = new ArrayList<>();
    private long writer;
    private long[] stats = new long[STAT_INVERSIONS + 1];

    LastwordWriter(SinkConfig config, WriterInitContext context) throws IOException {
        this.config = config;
        this.subtask = context.getTaskInfo().getIndexOfThisSubtask();
        this.encoder = new RowEncoder(config.shape);
        this.metrics = context.metricGroup();
        this.writer = Native.writerOpen(config.writerOptions.getBytes(StandardCharsets.UTF_8));
        metrics.gauge("bytesHeld", () -> stats[STAT_BYTES]);
        metrics.gauge("rowsCollapsed", () -> stats[STAT_COLLAPSED]);
        metrics.gauge("suspectedInversions", () -> stats[STAT_INVERSIONS]);
    }

    @Override
    public void write(RowData row, Context context) throws IOException {
        encoder.add(row);
        metrics.getNumRecordsSendCounter().inc();
        if (encoder.size() >= HAND_OVER_BYTES) {
            handOver();
            if (stats[STAT_BYTES] > config.batchBytesMax) {
                seal();
            }
        }
    }

    private void handOver() throws IOException {
        if (encoder.rows() != 0) {
            Native.writerAdd(writer, encoder.buffer(), encoder.size(), encoder.rows());
            metrics.getNumBytesSendCounter().inc(encoder.size());
            encoder.clear();
            stats = Native.writerStats(writer);
        }
    }

    private void seal() throws IOException {
        while (true) {
            byte[] head = Committable.head(config.sinkId, subtask, sealed.size(),
                    UUID.randomUUID().toString());
            byte[] batch = Native.writerSeal(writer, head.length);
            if (batch == null) {
                break;
            }
            sealed.add(Committable.of(head, batch));
        }
        stats = Native.writerStats(writer);
    }

    @Override
    public void flush(boolean endOfInput) {
        // Only the next checkpoint, or the end of the input, makes rows visible: prepareCommit.
    }

    @Override
    public Collection<Committable> prepareCommit() throws IOException {
        handOver();
        seal();
        List<Committable> batches = new ArrayList<>(sealed);
        sealed.clear();
        return batches;
    }

    @Override
    public List<WriterState> snapshotState(long checkpointId) {
        return List.of(new WriterState());
    }

    @Override
    public void close() {
        if (writer != 0) {
            Native.writerClose(writer);
            writer = 0;
        }
    }
}
