package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.util.Map;

/** Keys that the table takes for equal go one way, whatever they look like. */
class KeyRouterTest {
    private static int hash(DataType type, Object value) throws Exception {
        RowType row = (RowType) DataTypes.ROW(DataTypes.FIELD("a", DataTypes.INT()),
                DataTypes.FIELD("k", type)).getLogicalType();
        TableShape shape = TableShape.of(row, new int[] {1, 0}, Map.of(), "lastword_row");
        return new KeyRouter(shape).getKey(GenericRowData.of(5, value));
    }

    @Test
    void equalValuesHaveOneHash() throws Exception {
        assertEquals(hash(DataTypes.DOUBLE(), 0.0), hash(DataTypes.DOUBLE(), -0.0));
        assertEquals(hash(DataTypes.FLOAT(), 0f), hash(DataTypes.FLOAT(), -0f));
        assertEquals(hash(DataTypes.DOUBLE(), Double.NaN),
                hash(DataTypes.DOUBLE(), Double.longBitsToDouble(0x7ff8000000000001L)));
        assertEquals(hash(DataTypes.STRING(), StringData.fromString("grün")),
                hash(DataTypes.STRING(), StringData.fromBytes("xgrün".getBytes("UTF-8"), 1, 5)));
        assertEquals(hash(DataTypes.DECIMAL(10, 2),
                        DecimalData.fromUnscaledLong(150, 10, 2)),
                hash(DataTypes.DECIMAL(10, 2),
                        DecimalData.fromBigDecimal(new BigDecimal("1.50"), 10, 2)));
        assertEquals(hash(DataTypes.BYTES(), new byte[] {1, 2}),
                hash(DataTypes.BYTES(), new byte[] {1, 2}));
        assertEquals(hash(DataTypes.TIMESTAMP(6), TimestampData.fromEpochMillis(-1, 999_000)),
                hash(DataTypes.TIMESTAMP(6), TimestampData.fromEpochMillis(-1, 999_999)));
    }

    @Test
    void otherValuesHaveOthers() throws Exception {
        assertNotEquals(hash(DataTypes.BIGINT(), 1L), hash(DataTypes.BIGINT(), 2L));
        assertNotEquals(hash(DataTypes.STRING(), StringData.fromString("a")),
                hash(DataTypes.STRING(), StringData.fromString("b")));
    }
}
