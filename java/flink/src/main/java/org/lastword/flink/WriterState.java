package org.lastword.flink;

import org.apache.flink.core.io.SimpleVersionedSerializer;

import java.io.IOException;

/**
 * Nothing, but stored: a writer without any state is not told which checkpoint it was restored
 * from, and would number its last batches as if the job had just begun.
 */
final class WriterState {
    static final class Serializer implements SimpleVersionedSerializer<WriterState> {
        private static final int VERSION = 1;

        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(WriterState state) {
            return new byte[] {0};
        }

        @Override
        public WriterState deserialize(int version, byte[] bytes) throws IOException {
            if (version != VERSION) {
                throw new IOException("the state of a writer has version " + version
                        + ", this connector reads up to " + VERSION);
            }
            return new WriterState();
        }
    }
}
