package org.lastword.flink;

import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One sealed batch on its way to the committer: what, and as part of which checkpoint of which
 * sink. It says nothing of how it is written: a later form may name files instead of holding rows.
 *
 * It is held in its serialized form, since Flink serializes it several times on its way, and that
 * form gets its first checkpoint and is never changed otherwise:
 *
 * <pre>
 *   sink:UTF checkpoint:8 writer:4 ordinal:4 batchId:UTF size:4 batch     big-endian
 * </pre>
 */
final class Committable {
    /** Until the writer's batch is stamped with its checkpoint. */
    static final long UNSTAMPED = -1;

    private final String sinkId;
    private final long checkpointId;
    private final int writer;
    private final int ordinal;
    private final String batchId;
    /** Serialized, perhaps with another checkpoint; the batch is its end. */
    private final byte[] bytes;
    private final int checkpointAt;
    private final int batchAt;

    private Committable(Committable other, long checkpointId) {
        this.sinkId = other.sinkId;
        this.checkpointId = checkpointId;
        this.writer = other.writer;
        this.ordinal = other.ordinal;
        this.batchId = other.batchId;
        this.bytes = other.bytes;
        this.checkpointAt = other.checkpointAt;
        this.batchAt = other.batchAt;
    }

    private Committable(byte[] bytes) throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        sinkId = in.readUTF();
        checkpointAt = in.getPosition();
        checkpointId = in.readLong();
        writer = in.readInt();
        ordinal = in.readInt();
        batchId = in.readUTF();
        int size = in.readInt();
        batchAt = in.getPosition();
        this.bytes = bytes;
        if (size != bytes.length - batchAt) {
            throw new IOException("a committable of " + bytes.length + " bytes says that its batch"
                    + " has " + size);
        }
    }

    /** What comes before the batch in a committable that is not stamped yet. */
    static byte[] head(String sinkId, int writer, int ordinal, String batchId) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(256);
        out.writeUTF(sinkId);
        out.writeLong(UNSTAMPED);
        out.writeInt(writer);
        out.writeInt(ordinal);
        out.writeUTF(batchId);
        out.writeInt(0);
        return out.getCopyOfBuffer();
    }

    /** Takes `bytes`, which leave room for `head` before the batch. */
    static Committable of(byte[] head, byte[] bytes) throws IOException {
        System.arraycopy(head, 0, bytes, 0, head.length);
        ByteBuffer.wrap(bytes).putInt(head.length - Integer.BYTES, bytes.length - head.length);
        return new Committable(bytes);
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

    /** The array at whose end the batch lies; nobody may change it. */
    byte[] bytes() {
        return bytes;
    }

    /** Where in bytes() the batch begins. */
    int batchAt() {
        return batchAt;
    }

    /**
     * The same batch as part of `checkpoint`. A batch that never had one is stamped where it lies,
     * so that serializing it copies nothing: nobody has serialized it with another one.
     */
    Committable stampedWith(long checkpoint) {
        ByteBuffer serialized = ByteBuffer.wrap(bytes);
        if (serialized.getLong(checkpointAt) == UNSTAMPED) {
            serialized.putLong(checkpointAt, checkpoint);
        }
        return new Committable(this, checkpoint);
    }

    /** Kept in checkpoints and savepoints of jobs: every version is read for ever. */
    static final class Serializer implements SimpleVersionedSerializer<Committable> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(Committable committable) {
            byte[] bytes = committable.bytes;
            if (ByteBuffer.wrap(bytes).getLong(committable.checkpointAt)
                    != committable.checkpointId) {
                bytes = bytes.clone();
                ByteBuffer.wrap(bytes).putLong(committable.checkpointAt, committable.checkpointId);
            }
            return bytes;
        }

        @Override
        public Committable deserialize(int version, byte[] bytes) throws IOException {
            if (version != VERSION) {
                throw new IOException("a committable has version " + version
                        + ", this connector reads up to " + VERSION
                        + ": restore with the connector that wrote the savepoint, or a later one");
            }
            return new Committable(bytes);
        }
    }
}
