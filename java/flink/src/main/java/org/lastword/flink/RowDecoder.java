package org.lastword.flink;

import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/** Encoded rows of the C interface (lastword/c.h) as rows of Flink. */
final class RowDecoder {
    private final ValueDecoder[] columns;

    private interface ValueDecoder {
        Object take(ByteBuffer in);
    }

    RowDecoder(TableShape shape) {
        columns = new ValueDecoder[shape.rowType().getFieldCount()];
        for (int i = 0; i < columns.length; ++i) {
            columns[i] = decoderOf(shape.typeOf(i), shape.storedTypeOf(i));
        }
    }

    /** Takes the next row; the buffer must be little-endian. */
    RowData take(ByteBuffer in) {
        if (in.order() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalArgumentException("encoded rows are little-endian");
        }
        in.get();
        int nulls = in.position();
        in.position(nulls + (columns.length + 7) / 8);
        GenericRowData row = new GenericRowData(columns.length);
        for (int i = 0; i < columns.length; ++i) {
            if (!isSet(in, nulls, i)) {
                row.setField(i, columns[i].take(in));
            }
        }
        return row;
    }

    private static boolean isSet(ByteBuffer in, int bits, int i) {
        return (in.get(bits + (i >> 3)) >> (i & 7) & 1) != 0;
    }

    private static byte[] takeBytes(ByteBuffer in) {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return bytes;
    }

    private static ValueDecoder decoderOf(LogicalType type, String stored) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return in -> in.get() != 0;
            case TINYINT:
                return ByteBuffer::get;
            case SMALLINT:
                return stored.equals("uint8") ? in -> (short) (in.get() & 0xFF)
                        : ByteBuffer::getShort;
            case INTEGER:
                return stored.equals("uint16") ? in -> in.getShort() & 0xFFFF : ByteBuffer::getInt;
            case DATE:
                return ByteBuffer::getInt;
            case BIGINT:
                return stored.equals("uint32") ? in -> in.getInt() & 0xFFFFFFFFL
                        : ByteBuffer::getLong;
            case TIME_WITHOUT_TIME_ZONE:
                return in -> (int) (in.getLong() / 1000);
            case FLOAT:
                return ByteBuffer::getFloat;
            case DOUBLE:
                return ByteBuffer::getDouble;
            case CHAR:
            case VARCHAR:
                return stored.equals("uuid") ? RowDecoder::takeUuid
                        : in -> StringData.fromBytes(takeBytes(in));
            case BINARY:
            case VARBINARY:
                return RowDecoder::takeBytes;
            case DECIMAL:
                return decimal((DecimalType) type);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return RowDecoder::takeTimestamp;
            case ARRAY:
                return stored.startsWith("vector(") ? vector(stored)
                        : list((ArrayType) type, stored);
            default:
                throw new IllegalStateException("type " + type + " was not refused when planned");
        }
    }

    private static StringData takeUuid(ByteBuffer in) {
        long high = Long.reverseBytes(in.getLong());
        long low = Long.reverseBytes(in.getLong());
        return StringData.fromString(new UUID(high, low).toString());
    }

    private static TimestampData takeTimestamp(ByteBuffer in) {
        long micros = in.getLong();
        return TimestampData.fromEpochMillis(Math.floorDiv(micros, 1000L),
                (int) Math.floorMod(micros, 1000L) * 1000);
    }

    private static ValueDecoder decimal(DecimalType type) {
        int precision = type.getPrecision();
        int scale = type.getScale();
        return in -> {
            long low = in.getLong();
            long high = in.getLong();
            if (high == low >> 63 && precision <= 18) {
                return DecimalData.fromUnscaledLong(low, precision, scale);
            }
            BigInteger unscaled = BigInteger.valueOf(high).shiftLeft(64)
                    .add(new BigInteger(Long.toUnsignedString(low)));
            return DecimalData.fromBigDecimal(new BigDecimal(unscaled, scale), precision, scale);
        };
    }

    private static ValueDecoder vector(String stored) {
        int dimension = Integer.parseInt(stored.substring("vector(".length(), stored.length() - 1));
        return in -> {
            Object[] values = new Object[dimension];
            for (int i = 0; i < dimension; ++i) {
                values[i] = in.getFloat();
            }
            return new GenericArrayData(values);
        };
    }

    private static ValueDecoder list(ArrayType type, String stored) {
        ValueDecoder element = decoderOf(type.getElementType(),
                stored.substring("list<".length(), stored.length() - 1));
        return in -> {
            Object[] values = new Object[in.getInt()];
            int nulls = in.position();
            in.position(nulls + (values.length + 7) / 8);
            for (int i = 0; i < values.length; ++i) {
                if (!isSet(in, nulls, i)) {
                    values[i] = element.take(in);
                }
            }
            return new GenericArrayData(values);
        };
    }
}
