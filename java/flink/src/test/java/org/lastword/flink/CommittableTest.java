package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;

/** What a savepoint holds of a sealed batch. */
class CommittableTest {
    private static final byte[] BATCH = {1, 2, 3};
    /** Version 1, never written anew: sink "s", checkpoint 7, writer 2, ordinal 1, batch "b". */
    private static final byte[] SAMPLE = HexFormat.of().parseHex("000173" + "0000000000000007"
            + "00000002" + "00000001" + "000162" + "00000003" + "010203");

    private final Committable.Serializer serializer = new Committable.Serializer();

    private static Committable fresh() throws IOException {
        byte[] head = Committable.head("s", 2, 1, "b");
        byte[] bytes = new byte[head.length + BATCH.length];
        System.arraycopy(BATCH, 0, bytes, head.length, BATCH.length);
        return Committable.of(head, bytes);
    }

    private static void check(Committable committable, long checkpoint) {
        assertEquals("s", committable.sinkId());
        assertEquals(checkpoint, committable.checkpointId());
        assertEquals(2, committable.writer());
        assertEquals(1, committable.ordinal());
        assertEquals("b", committable.batchId());
        byte[] bytes = committable.bytes();
        assertArrayEquals(BATCH,
                Arrays.copyOfRange(bytes, committable.batchAt(), bytes.length));
    }

    @Test
    void theSampleOfVersion1IsReadForEver() throws Exception {
        check(serializer.deserialize(1, SAMPLE), 7);
        assertArrayEquals(SAMPLE, serializer.serialize(serializer.deserialize(1, SAMPLE)));
        assertThrows(IOException.class, () -> serializer.deserialize(2, SAMPLE));
        assertThrows(IOException.class,
                () -> serializer.deserialize(1, Arrays.copyOf(SAMPLE, SAMPLE.length - 1)));
    }

    @Test
    void aStampChangesNothingElse() throws Exception {
        Committable unstamped = fresh();
        check(unstamped, Committable.UNSTAMPED);
        Committable stamped = unstamped.stampedWith(7);
        check(stamped, 7);
        assertArrayEquals(SAMPLE, serializer.serialize(stamped));
        check(unstamped, Committable.UNSTAMPED);
        check(serializer.deserialize(1, serializer.serialize(unstamped)), Committable.UNSTAMPED);
        check(serializer.deserialize(1, serializer.serialize(unstamped.stampedWith(8))), 8);
        assertArrayEquals(SAMPLE, serializer.serialize(stamped));
    }
}
