package org.lastword.bench;

import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.types.RowKind;

import java.io.Serializable;
import java.util.Random;

/**
 * An update-heavy changelog over rows (k BIGINT, n BIGINT, payload STRING): uniform keys, 15 %
 * deletes, 100 bytes of payload, n the number of the event. Every change of a key comes from one
 * subtask. An event depends on its number alone, so that what must come of it can be computed
 * apart.
 */
final class Changelog implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int DELETES_PERCENT = 15;
    private static final int PAYLOAD_BYTES = 100;
    private static final int POOL_BITS = 24;

    final long events;
    final long keys;

    Changelog(long events, long keys) {
        this.events = events;
        this.keys = keys;
    }

    /**
     * Letters to cut payloads out of: so many that a compressor does not meet them again within
     * its window, and finds no more in them than in random text.
     */
    static byte[] pool() {
        byte[] pool = new byte[(1 << POOL_BITS) + PAYLOAD_BYTES];
        Random random = new Random(1);
        for (int i = 0; i < pool.length; ++i) {
            pool[i] = (byte) ('a' + random.nextInt(26));
        }
        return pool;
    }

    private static long hash(long number) {
        long h = (number + 1) * 0x9E3779B97F4A7C15L;
        h = (h ^ (h >>> 30)) * 0xBF58476D1CE4E5B9L;
        h = (h ^ (h >>> 27)) * 0x94D049BB133111EBL;
        return h ^ (h >>> 31);
    }

    /** Event `number` belongs to subtask number % subtasks, and so does its key. */
    private long keyOf(long hash, long subtask, long subtasks) {
        return (hash >>> 8) % (keys / subtasks) * subtasks + subtask;
    }

    private static boolean deletes(long hash) {
        return (hash & 0xFF) * 100 < DELETES_PERCENT * 256;
    }

    RowData row(long number, int subtasks, byte[] pool) {
        long hash = hash(number);
        GenericRowData row =
                new GenericRowData(deletes(hash) ? RowKind.DELETE : RowKind.UPDATE_AFTER, 3);
        row.setField(0, keyOf(hash, number % subtasks, subtasks));
        row.setField(1, number);
        byte[] payload = new byte[PAYLOAD_BYTES];
        System.arraycopy(pool, (int) (hash >>> (Long.SIZE - POOL_BITS)), payload, 0, PAYLOAD_BYTES);
        row.setField(2, StringData.fromBytes(payload));
        return row;
    }

    /** The sums that the query of `Sums` gives for the table that all events leave. */
    Sums outcome(int subtasks) {
        long[] last = new long[(int) keys];
        for (long number = 0; number < events; ++number) {
            long hash = hash(number);
            last[(int) keyOf(hash, number % subtasks, subtasks)] = deletes(hash) ? 0 : number + 1;
        }
        long rows = 0;
        long k = 0;
        long n = 0;
        long product = 0;
        for (int key = 0; key < keys; ++key) {
            if (last[key] != 0) {
                long number = last[key] - 1;
                ++rows;
                k += key;
                n += number;
                product += key * number % Sums.MODULUS;
            }
        }
        return new Sums(rows, k, n, product, rows * PAYLOAD_BYTES);
    }
}
