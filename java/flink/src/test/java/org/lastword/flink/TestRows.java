package org.lastword.flink;

import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Rows (k, v, seq) and the sink that takes them, for tests below SQL. */
final class TestRows {
    static final RowType TYPE = (RowType) DataTypes.ROW(
            DataTypes.FIELD("k", DataTypes.BIGINT().notNull()),
            DataTypes.FIELD("v", DataTypes.STRING()),
            DataTypes.FIELD("seq", DataTypes.BIGINT())).getLogicalType();

    private TestRows() {}

    static RowData row(RowKind kind, long key, String value, long sequence) {
        GenericRowData row = new GenericRowData(kind, 3);
        row.setField(0, key);
        row.setField(1, StringData.fromString(value));
        row.setField(2, sequence);
        return row;
    }

    /** A sink with key k; a new submission each time. */
    static SinkConfig sink(String uri, List<String> sequence) {
        return sink(uri, keyed(), sequence, "fail", true);
    }

    /** The same, where every version of the table has to be a checkpoint. */
    static SinkConfig uncompacted(String uri, List<String> sequence, String onConflict) {
        return sink(uri, keyed(), sequence, onConflict, false);
    }

    /** The same without a key. */
    static SinkConfig appends(String uri) {
        return sink(uri, TableShape.of(TYPE, new int[] {}, Map.of(), "lastword_row"), List.of(),
                "fail", true);
    }

    private static TableShape keyed() {
        return TableShape.of(TYPE, new int[] {0}, Map.of(), "lastword_row");
    }

    private static SinkConfig sink(String uri, TableShape shape, List<String> sequence,
            String onConflict, boolean compaction) {
        return new SinkConfig(uri, UUID.randomUUID().toString(), shape,
                shape.toJson().put("durability", "process").put("on_conflict", onConflict)
                        .put("compaction", compaction).toString(),
                SinkConfig.writerOptions(shape, sequence, "own"), 1 << 20, 10_000);
    }
}
