package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.math.BigDecimal;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Every type through the native writer into a table and back, without a cluster. */
class RoundTripTest {
    @TempDir Path folder;

    private static final RowType EVERY_TYPE = (RowType) DataTypes.ROW(
            DataTypes.FIELD("k", DataTypes.BIGINT().notNull()),
            DataTypes.FIELD("bo", DataTypes.BOOLEAN()), DataTypes.FIELD("ti", DataTypes.TINYINT()),
            DataTypes.FIELD("si", DataTypes.SMALLINT()), DataTypes.FIELD("i", DataTypes.INT()),
            DataTypes.FIELD("f", DataTypes.FLOAT()), DataTypes.FIELD("d", DataTypes.DOUBLE()),
            DataTypes.FIELD("d1", DataTypes.DECIMAL(10, 2)),
            DataTypes.FIELD("d2", DataTypes.DECIMAL(38, 10)),
            DataTypes.FIELD("s", DataTypes.STRING()), DataTypes.FIELD("b", DataTypes.BYTES()),
            DataTypes.FIELD("da", DataTypes.DATE()), DataTypes.FIELD("t", DataTypes.TIME(3)),
            DataTypes.FIELD("ts", DataTypes.TIMESTAMP(6)),
            DataTypes.FIELD("tz", DataTypes.TIMESTAMP_LTZ(6)),
            DataTypes.FIELD("l", DataTypes.ARRAY(DataTypes.STRING())),
            DataTypes.FIELD("v", DataTypes.ARRAY(DataTypes.FLOAT())),
            DataTypes.FIELD("u", DataTypes.STRING()), DataTypes.FIELD("u32", DataTypes.BIGINT()))
            .getLogicalType();

    private static TableShape shape() {
        return TableShape.of(EVERY_TYPE, new int[] {0},
                Map.of("v", "vector(2)", "u", "uuid", "u32", "uint32"), "lastword_row");
    }

    private static GenericRowData full(long key) {
        return GenericRowData.of(key, true, (byte) -7, (short) -300, 1 << 30, 1.5f, -0.1,
                DecimalData.fromBigDecimal(new BigDecimal("-12345678.90"), 10, 2),
                DecimalData.fromBigDecimal(
                        new BigDecimal("-1234567890123456789012345678.0123456789"), 38, 10),
                StringData.fromString("Grüße 😀"), new byte[] {0, -1, 5}, -1, 86_399_999,
                TimestampData.fromEpochMillis(-1, 999_000),
                TimestampData.fromEpochMillis(1_700_000_000_000L, 1000),
                new GenericArrayData(new Object[] {StringData.fromString("x"), null}),
                new GenericArrayData(new Object[] {1f, -2f}),
                StringData.fromString("01234567-89ab-cdef-0123-456789abcdef"), 4_000_000_000L);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] seal(TableShape shape, List<RowData> rows) throws Exception {
        long writer = Native.writerOpen(utf8(SinkConfig.writerOptions(shape, List.of(), "own")));
        try {
            RowEncoder encoder = new RowEncoder(shape);
            for (RowData row : rows) {
                encoder.add(row);
            }
            Native.writerAdd(writer, encoder.buffer(), encoder.size(), encoder.rows());
            return Native.writerSeal(writer, 0);
        } finally {
            Native.writerClose(writer);
        }
    }

    private static List<RowData> scan(String uri, TableShape shape) throws Exception {
        List<RowData> rows = new ArrayList<>();
        RowDecoder decoder = new RowDecoder(shape);
        var names = TableShape.json().createArrayNode();
        shape.rowType().getFieldNames().forEach(names::add);
        Native.scan(utf8(uri), 0, TableShape.bytes(names), (buffer, count) -> {
            buffer.order(ByteOrder.LITTLE_ENDIAN);
            for (long i = 0; i < count; ++i) {
                rows.add(decoder.take(buffer));
            }
            return true;
        });
        return rows;
    }

    @Test
    void everyTypeComesBack() throws Exception {
        String uri = folder.resolve("types.lance").toString();
        TableShape shape = shape();
        GenericRowData nulls = new GenericRowData(EVERY_TYPE.getFieldCount());
        nulls.setField(0, 2L);
        byte[] batch = seal(shape, List.of(full(1), nulls, full(3)));
        long table = Native.tableOpen(utf8(uri), TableShape.bytes(shape.toJson()));
        try {
            long[] result = commit(table, utf8("one"), batch);
            assertEquals(3, result[2]);
            assertEquals(1, commit(table, utf8("one"), batch)[1]);
        } finally {
            Native.tableClose(table);
        }
        List<RowData> rows = scan(uri, shape);
        assertEquals(3, rows.size());
        assertEquals(full(1), rows.get(0));
        assertEquals(nulls, rows.get(1));
        assertEquals(full(3), rows.get(2));
    }

    @Test
    void deletesNameTheirKeyOnly() throws Exception {
        String uri = folder.resolve("keys.lance").toString();
        TableShape shape = shape();
        long table = Native.tableOpen(utf8(uri), TableShape.bytes(shape.toJson()));
        try {
            commit(table, utf8("1"), seal(shape, List.of(full(1))));
            GenericRowData gone = new GenericRowData(RowKind.DELETE, EVERY_TYPE.getFieldCount());
            gone.setField(0, 1L);
            long[] result =
                    commit(table, utf8("2"), seal(shape, List.of(gone)));
            assertEquals(1, result[11]);
            String told = new String(Native.tableExplain(table, utf8("1"), utf8("")),
                    StandardCharsets.UTF_8);
            assertTrue(told.contains("\"state\":\"deleted\""), told);
        } finally {
            Native.tableClose(table);
        }
        assertEquals(List.of(), scan(uri, shape));
    }

    private static long[] commit(long table, byte[] id, byte[] batch) throws Exception {
        return Native.tableCommit(table, id, new byte[][] {batch}, new int[] {0});
    }

    private static long residentKilobytes() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IllegalStateException("no VmRSS");
    }

    /** The same keys over and over: what a checkpoint takes it gives back. */
    @Test
    void memoryDoesNotGrowWithCheckpoints() throws Exception {
        String uri = folder.resolve("memory.lance").toString();
        TableShape shape = shape();
        List<RowData> rows = new ArrayList<>();
        for (long k = 0; k < 2000; ++k) {
            rows.add(full(k));
        }
        String options = shape.toJson().put("durability", "process")
                .put("memory_bytes_max", 64 << 20).toString();
        long table = Native.tableOpen(utf8(uri), utf8(options));
        long warm = 0;
        for (int i = 0; i < 300; ++i) {
            commit(table, utf8("c" + i), seal(shape, rows));
            if (i == 100) {
                System.gc();
                warm = residentKilobytes();
            }
        }
        System.gc();
        long grown = residentKilobytes() - warm;
        Native.tableClose(table);
        System.out.println("200 checkpoints grew the process by " + grown + " KiB");
        // A batch is 400 KiB: keeping one of each checkpoint would be 80 MB.
        assertTrue(grown < 40_000, grown + " KiB");
    }

    @Test
    void nativeErrorsAreExceptions() throws Exception {
        LastwordException usage =
                assertThrows(LastwordException.class, () -> Native.writerOpen(utf8("{}")));
        assertEquals("usage", usage.kind());
        assertTrue(usage.getMessage().startsWith("usage: "), usage.getMessage());
        assertNull(usage.getCause());
        LastwordException absent = assertThrows(LastwordException.class, () -> Native.scan(
                utf8(folder.resolve("no.lance").toString()), 0, utf8("[\"k\"]"), (b, n) -> true));
        assertEquals("usage", absent.kind());
    }

    @Test
    void anExceptionInAScanEndsIt() throws Exception {
        String uri = folder.resolve("ends.lance").toString();
        TableShape shape = shape();
        long table = Native.tableOpen(utf8(uri), TableShape.bytes(shape.toJson()));
        commit(table, utf8("1"), seal(shape, List.of(full(1))));
        Native.tableClose(table);
        assertThrows(IllegalStateException.class, () -> Native.scan(utf8(uri), 0,
                utf8("[\"k\"]"), (b, n) -> {
                    throw new IllegalStateException("enough");
                }));
    }
}
