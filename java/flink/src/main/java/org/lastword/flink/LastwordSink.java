package org.lastword.flink;

import org.apache.flink.api.common.functions.Partitioner;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessageTypeInfo;
import org.apache.flink.streaming.api.connector.sink2.CommittableWithLineage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreCommitTopology;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.MathUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.util.Collection;

/**
 * A changelog into one table: rows by key to the writers, sealed batches stamped with their
 * checkpoint and brought to one committer, one commit a checkpoint.
 */
public final class LastwordSink
        implements Sink<RowData>,
                SupportsWriterState<RowData, WriterState>,
                SupportsCommitter<Committable>,
                SupportsPreWriteTopology<RowData>,
                SupportsPreCommitTopology<Committable, Committable> {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(LastwordSink.class);

    private final SinkConfig config;

    LastwordSink(SinkConfig config) {
        this.config = config;
    }

    /**
     * Flink shuffles by key only where the parallelism changes, and two writers that share a key
     * cannot order its changes: the sink does it itself. No keyBy: in batch mode that sorts, and
     * does not keep the order within a key. The last hop is always aligned, so that a barrier never
     * comes between a -U and the +U that directly follows it there.
     */
    @Override
    public DataStream<RowData> addPreWriteTopology(DataStream<RowData> rows) {
        if (!rows.getExecutionEnvironment().getCheckpointConfig().isCheckpointingEnabled()) {
            LOG.warn("checkpointing is off: {} changes only when the input ends. Set "
                    + "execution.checkpointing.interval.", config.uri);
        }
        if (config.shape.appends()) {
            return rows;
        }
        DataStream<RowData> routed =
                rows.partitionCustom(new KeyPartitioner(), new KeyRouter(config.shape));
        ((PartitionTransformation<RowData>) routed.getTransformation()).getPartitioner()
                .disableUnalignedCheckpoints();
        return routed;
    }

    /** Spreads hashes evenly over the writers. */
    private static final class KeyPartitioner implements Partitioner<Integer> {
        private static final long serialVersionUID = 1L;

        @Override
        public int partition(Integer hash, int writers) {
            return MathUtils.murmurHash(hash) % writers;
        }
    }

    @Override
    public LastwordWriter createWriter(WriterInitContext context) throws IOException {
        return new LastwordWriter(config, context);
    }

    @Override
    public LastwordWriter restoreWriter(WriterInitContext context, Collection<WriterState> state)
            throws IOException {
        return new LastwordWriter(config, context);
    }

    @Override
    public SimpleVersionedSerializer<WriterState> getWriterStateSerializer() {
        return new WriterState.Serializer();
    }

    /** Neither a writer nor a committer is told which checkpoint a batch belongs to, this is. */
    @Override
    public DataStream<CommittableMessage<Committable>> addPreCommitTopology(
            DataStream<CommittableMessage<Committable>> messages) {
        return messages.map(LastwordSink::stamp)
                .returns(CommittableMessageTypeInfo.of(Committable.Serializer::new))
                .name("Stamp")
                .global();
    }

    private static CommittableMessage<Committable> stamp(CommittableMessage<Committable> message) {
        if (!(message instanceof CommittableWithLineage)) {
            return message;
        }
        CommittableWithLineage<Committable> batch = (CommittableWithLineage<Committable>) message;
        long checkpoint = batch.getCheckpointId();
        return batch.map(committable -> committable.stampedWith(checkpoint));
    }

    @Override
    public SimpleVersionedSerializer<Committable> getWriteResultSerializer() {
        return new Committable.Serializer();
    }

    @Override
    public Committer<Committable> createCommitter(CommitterInitContext context) {
        return new LastwordCommitter(config, context);
    }

    @Override
    public SimpleVersionedSerializer<Committable> getCommittableSerializer() {
        return new Committable.Serializer();
    }
}
