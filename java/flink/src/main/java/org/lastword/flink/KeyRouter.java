package org.lastword.flink;

import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

import java.util.Arrays;

/**
 * Sends all changes of one key to one writer. Keys are equal by value, as the table sees them:
 * -0.0 is 0.0 and every NaN is one NaN. What it returns is a hash, not a key: nothing is kept by
 * it, so that two keys with one hash merely share a writer.
 */
final class KeyRouter implements KeySelector<RowData, Integer> {
    private static final long serialVersionUID = 1L;

    private final int[] key;
    private final LogicalType[] types;

    KeyRouter(TableShape shape) {
        key = shape.key();
        types = Arrays.stream(key).mapToObj(shape::typeOf).toArray(LogicalType[]::new);
    }

    @Override
    public Integer getKey(RowData row) {
        int hash = 17;
        for (int i = 0; i < key.length; ++i) {
            hash = 31 * hash + (row.isNullAt(key[i]) ? 0 : hashOf(row, key[i], types[i]));
        }
        return hash;
    }

    private static int hashOf(RowData row, int column, LogicalType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return Boolean.hashCode(row.getBoolean(column));
            case TINYINT:
                return row.getByte(column);
            case SMALLINT:
                return row.getShort(column);
            case INTEGER:
            case DATE:
            case TIME_WITHOUT_TIME_ZONE:
                return row.getInt(column);
            case BIGINT:
                return Long.hashCode(row.getLong(column));
            case FLOAT:
                // Adding 0 makes -0.0 a 0.0; hashCode takes every NaN for one.
                return Float.hashCode(row.getFloat(column) + 0.0f);
            case DOUBLE:
                return Double.hashCode(row.getDouble(column) + 0.0);
            case CHAR:
            case VARCHAR:
                return Arrays.hashCode(row.getString(column).toBytes());
            case BINARY:
            case VARBINARY:
                return Arrays.hashCode(row.getBinary(column));
            case DECIMAL:
                return decimal(row, column, (DecimalType) type);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                TimestampData at = row.getTimestamp(column, LogicalTypeChecks.getPrecision(type));
                // Nanoseconds are not kept by the table, so they are no part of the key.
                return Long.hashCode(at.getMillisecond() * 1000
                        + at.getNanoOfMillisecond() / 1000);
            default:
                throw new IllegalStateException("type " + type + " was not refused when planned");
        }
    }

    private static int decimal(RowData row, int column, DecimalType type) {
        DecimalData value = row.getDecimal(column, type.getPrecision(), type.getScale());
        return value.isCompact() ? Long.hashCode(value.toUnscaledLong())
                : value.toBigDecimal().unscaledValue().hashCode();
    }
}
