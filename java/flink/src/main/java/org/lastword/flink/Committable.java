package org.lastword.flink;

import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

import java.io.IOException;

/**
 * One sealed batch on its way to the committer: what, and as part of which checkpoint of which
 * sink. It says nothing of how it is written: a later form may name files instead of holding rows.
 */
final class Committable {
    /** Until the writer's batch is stamped with its checkpoint. */
    static final long UNSTAMPED = -1;

    private final String sinkId;
    private final long checkpointId;
    private final int writer;
    private final int ordinal;
    private final String batchId;
    private final byte[] batch;

    Committable(String sinkId, long checkpointId, int writer, int ordinal, String batchId,
            byte[] batch) {
        this.sinkId = sinkId;
        this.checkpointId = checkpointId;
        this.writer = writer;
        this.ordinal = ordinal;
        this.batchId = batchId;
        this.batch = batch;
    }

    /** Of the statement that was submitted: restarts keep it, a new submission has another. */
    String sinkId() {
        return sinkId;
    }

    long checkpointId() {
        return checkpointId;
    }

    int writer() {
        return writer;
    }

    /** Place among the batches of its writer in its checkpoint: they are applied in this order. */
    int ordinal() {
        return ordinal;
    }

    /** Unique: a batch that is delivered again has the same, and no other has it. */
    String batchId() {
        return batchId;
    }

    byte[] batch() {
        return batch;
    }

    Committable stampedWith(long checkpoint) {
        return new Committable(sinkId, checkpoint, writer, ordinal, batchId, batch);
    }

    /** Kept in checkpoints and savepoints of jobs: every version is read for ever. */
    static final class Serializer implements SimpleVersionedSerializer<Committable> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(Committable committable) throws IOException {
            DataOutputSerializer out = new DataOutputSerializer(committable.batch.length + 256);
            out.writeUTF(committable.sinkId);
            out.writeLong(committable.checkpointId);
            out.writeInt(committable.writer);
            out.writeInt(committable.ordinal);
            out.writeUTF(committable.batchId);
            out.writeInt(committable.batch.length);
            out.write(committable.batch);
            return out.getCopyOfBuffer();
        }

        @Override
        public Committable deserialize(int version, byte[] bytes) throws IOException {
            if (version != VERSION) {
                throw new IOException("a committable has version " + version
                        + ", this connector reads up to " + VERSION
                        + ": restore with the connector that wrote the savepoint, or a later one");
            }
            DataInputDeserializer in = new DataInputDeserializer(bytes);
            String sinkId = in.readUTF();
            long checkpointId = in.readLong();
            int writer = in.readInt();
            int ordinal = in.readInt();
            String batchId = in.readUTF();
            byte[] batch = new byte[in.readInt()];
            in.readFully(batch);
            return new Committable(sinkId, checkpointId, writer, ordinal, batchId, batch);
        }
    }
}
