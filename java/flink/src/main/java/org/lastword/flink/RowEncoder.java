package org.lastword.flink;

import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Rows of Flink as encoded rows of the C interface (lastword/c.h has their grammar), one behind the
 * other in a direct buffer that grows as needed.
 */
final class RowEncoder {
    private static final int INITIAL_BYTES = 1 << 16;
    private static final int DECIMAL_BYTES = 16;

    private final ValueEncoder[] columns;
    private final int nullBytes;
    private ByteBuffer out = newBuffer(INITIAL_BYTES);
    private long rows;

    /** Puts value `i` of a row; the array of a list is read the same way. */
    private interface ValueEncoder {
        void put(Values values, int i) throws IOException;
    }

    /** What rows and arrays have in common. */
    private interface Values {
        boolean getBoolean(int i);

        byte getByte(int i);

        short getShort(int i);

        int getInt(int i);

        long getLong(int i);

        float getFloat(int i);

        double getDouble(int i);

        StringData getText(int i);

        byte[] getBinary(int i);

        DecimalData getDecimal(int i, int precision, int scale);

        TimestampData getTimestamp(int i, int precision);

        ArrayData getArray(int i);
    }

    RowEncoder(TableShape shape) {
        int count = shape.rowType().getFieldCount();
        nullBytes = (count + 7) / 8;
        columns = new ValueEncoder[count];
        for (int i = 0; i < count; ++i) {
            columns[i] = encoderOf(shape.typeOf(i), shape.storedTypeOf(i),
                    shape.rowType().getFieldNames().get(i));
        }
    }

    /** Appends one row. Its bytes are a copy: the row may be reused afterwards. */
    void add(RowData row) throws IOException {
        int start = out.position();
        ensure(1 + nullBytes);
        out.put(row.getRowKind().toByteValue());
        int nulls = out.position();
        for (int i = 0; i < nullBytes; ++i) {
            out.put((byte) 0);
        }
        RowValues values = new RowValues(row);
        try {
            for (int i = 0; i < columns.length; ++i) {
                if (row.isNullAt(i)) {
                    setBit(nulls, i);
                } else {
                    columns[i].put(values, i);
                }
            }
        } catch (IOException | RuntimeException e) {
            out.position(start);
            throw e;
        }
        ++rows;
    }

    int size() {
        return out.position();
    }

    long rows() {
        return rows;
    }

    ByteBuffer buffer() {
        return out;
    }

    void clear() {
        out.clear();
        rows = 0;
    }

    private static ByteBuffer newBuffer(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void ensure(int bytes) {
        if (out.remaining() >= bytes) {
            return;
        }
        long needed = (long) out.position() + bytes;
        long capacity = Math.max(needed, Math.min(2L * out.capacity(), Integer.MAX_VALUE - 8));
        if (capacity > Integer.MAX_VALUE - 8) {
            throw new IllegalStateException("a row exceeds 2 GiB");
        }
        ByteBuffer larger = newBuffer((int) capacity);
        out.flip();
        larger.put(out);
        out = larger;
    }

    private void setBit(int bits, int i) {
        int at = bits + (i >> 3);
        out.put(at, (byte) (out.get(at) | 1 << (i & 7)));
    }

    private void putBytes(byte[] bytes) {
        ensure(4 + bytes.length);
        out.putInt(bytes.length);
        out.put(bytes);
    }

    /** A text as it lies in a row of Flink, without an array between. */
    private void putText(StringData text) {
        if (text instanceof BinaryStringData binary) {
            binary.ensureMaterialized();
            if (binary.getSegments().length == 1) {
                int size = binary.getSizeInBytes();
                ensure(4 + size);
                out.putInt(size);
                binary.getSegments()[0].get(binary.getOffset(), out, size);
                return;
            }
        }
        putBytes(text.toBytes());
    }

    private ValueEncoder encoderOf(LogicalType type, String stored, String column) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return (v, i) -> {
                    ensure(1);
                    out.put((byte) (v.getBoolean(i) ? 1 : 0));
                };
            case TINYINT:
                return (v, i) -> {
                    ensure(1);
                    out.put(v.getByte(i));
                };
            case SMALLINT:
                return smallint(stored, column);
            case INTEGER:
                return integer(stored, column);
            case BIGINT:
                return bigint(stored, column);
            case DATE:
                return (v, i) -> {
                    ensure(4);
                    out.putInt(v.getInt(i));
                };
            case TIME_WITHOUT_TIME_ZONE:
                return (v, i) -> {
                    ensure(8);
                    out.putLong(v.getInt(i) * 1000L);
                };
            case FLOAT:
                return (v, i) -> {
                    ensure(4);
                    out.putFloat(v.getFloat(i));
                };
            case DOUBLE:
                return (v, i) -> {
                    ensure(8);
                    out.putDouble(v.getDouble(i));
                };
            case CHAR:
            case VARCHAR:
                return stored.equals("uuid") ? uuid(column) : (v, i) -> putText(v.getText(i));
            case BINARY:
            case VARBINARY:
                return (v, i) -> putBytes(v.getBinary(i));
            case DECIMAL:
                return decimal((DecimalType) type);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return timestamp(LogicalTypeChecks.getPrecision(type));
            case ARRAY:
                return stored.startsWith("vector(") ? vector(stored, column)
                        : list((ArrayType) type, stored, column);
            default:
                throw new IllegalStateException("type " + type + " was not refused when planned");
        }
    }

    private ValueEncoder smallint(String stored, String column) {
        if (stored.equals("uint8")) {
            return (v, i) -> {
                ensure(1);
                out.put((byte) inRange(v.getShort(i), 0xFFL, column));
            };
        }
        return (v, i) -> {
            ensure(2);
            out.putShort(v.getShort(i));
        };
    }

    private ValueEncoder integer(String stored, String column) {
        if (stored.equals("uint16")) {
            return (v, i) -> {
                ensure(2);
                out.putShort((short) inRange(v.getInt(i), 0xFFFFL, column));
            };
        }
        return (v, i) -> {
            ensure(4);
            out.putInt(v.getInt(i));
        };
    }

    private ValueEncoder bigint(String stored, String column) {
        if (stored.equals("uint32")) {
            return (v, i) -> {
                ensure(4);
                out.putInt((int) inRange(v.getLong(i), 0xFFFFFFFFL, column));
            };
        }
        return (v, i) -> {
            ensure(8);
            out.putLong(v.getLong(i));
        };
    }

    private static long inRange(long value, long max, String column) throws IOException {
        if (value < 0 || value > max) {
            throw new IOException("out_of_range: column " + column + " holds 0 to " + max);
        }
        return value;
    }

    private ValueEncoder uuid(String column) {
        return (v, i) -> {
            String text = v.getText(i).toString();
            UUID uuid;
            try {
                uuid = UUID.fromString(text);
            } catch (IllegalArgumentException e) {
                throw new IOException("type_mismatch: column " + column + " takes UUIDs only");
            }
            ensure(16);
            out.putLong(Long.reverseBytes(uuid.getMostSignificantBits()));
            out.putLong(Long.reverseBytes(uuid.getLeastSignificantBits()));
        };
    }

    private ValueEncoder decimal(DecimalType type) {
        int precision = type.getPrecision();
        int scale = type.getScale();
        return (v, i) -> {
            DecimalData value = v.getDecimal(i, precision, scale);
            ensure(DECIMAL_BYTES);
            if (value.isCompact()) {
                long unscaled = value.toUnscaledLong();
                out.putLong(unscaled);
                out.putLong(unscaled >> 63);
                return;
            }
            BigInteger unscaled = value.toBigDecimal().unscaledValue();
            out.putLong(unscaled.longValue());
            out.putLong(unscaled.shiftRight(64).longValue());
        };
    }

    private ValueEncoder timestamp(int precision) {
        return (v, i) -> {
            TimestampData value = v.getTimestamp(i, precision);
            ensure(8);
            out.putLong(Math.addExact(Math.multiplyExact(value.getMillisecond(), 1000L),
                    value.getNanoOfMillisecond() / 1000));
        };
    }

    private ValueEncoder vector(String stored, String column) {
        int dimension = Integer.parseInt(stored.substring("vector(".length(), stored.length() - 1));
        return (v, i) -> {
            ArrayData array = v.getArray(i);
            if (array.size() != dimension) {
                throw new IOException("type_mismatch: column " + column + " takes vectors of "
                        + dimension + " floats, not of " + array.size());
            }
            ensure(4 * dimension);
            for (int j = 0; j < dimension; ++j) {
                if (array.isNullAt(j)) {
                    throw new IOException("type_mismatch: a vector of column " + column
                            + " has a NULL");
                }
                out.putFloat(array.getFloat(j));
            }
        };
    }

    private ValueEncoder list(ArrayType type, String stored, String column) {
        ValueEncoder element = encoderOf(type.getElementType(),
                stored.substring("list<".length(), stored.length() - 1), column);
        return (v, i) -> {
            ArrayData array = v.getArray(i);
            int count = array.size();
            int bits = (count + 7) / 8;
            ensure(4 + bits);
            out.putInt(count);
            int nulls = out.position();
            for (int j = 0; j < bits; ++j) {
                out.put((byte) 0);
            }
            ArrayValues values = new ArrayValues(array);
            for (int j = 0; j < count; ++j) {
                if (array.isNullAt(j)) {
                    setBit(nulls, j);
                } else {
                    element.put(values, j);
                }
            }
        };
    }

    private static final class RowValues implements Values {
        private final RowData row;

        RowValues(RowData row) {
            this.row = row;
        }

        public boolean getBoolean(int i) {
            return row.getBoolean(i);
        }

        public byte getByte(int i) {
            return row.getByte(i);
        }

        public short getShort(int i) {
            return row.getShort(i);
        }

        public int getInt(int i) {
            return row.getInt(i);
        }

        public long getLong(int i) {
            return row.getLong(i);
        }

        public float getFloat(int i) {
            return row.getFloat(i);
        }

        public double getDouble(int i) {
            return row.getDouble(i);
        }

        public StringData getText(int i) {
            return row.getString(i);
        }

        public byte[] getBinary(int i) {
            return row.getBinary(i);
        }

        public DecimalData getDecimal(int i, int precision, int scale) {
            return row.getDecimal(i, precision, scale);
        }

        public TimestampData getTimestamp(int i, int precision) {
            return row.getTimestamp(i, precision);
        }

        public ArrayData getArray(int i) {
            return row.getArray(i);
        }
    }

    private static final class ArrayValues implements Values {
        private final ArrayData array;

        ArrayValues(ArrayData array) {
            this.array = array;
        }

        public boolean getBoolean(int i) {
            return array.getBoolean(i);
        }

        public byte getByte(int i) {
            return array.getByte(i);
        }

        public short getShort(int i) {
            return array.getShort(i);
        }

        public int getInt(int i) {
            return array.getInt(i);
        }

        public long getLong(int i) {
            return array.getLong(i);
        }

        public float getFloat(int i) {
            return array.getFloat(i);
        }

        public double getDouble(int i) {
            return array.getDouble(i);
        }

        public StringData getText(int i) {
            return array.getString(i);
        }

        public byte[] getBinary(int i) {
            return array.getBinary(i);
        }

        public DecimalData getDecimal(int i, int precision, int scale) {
            return array.getDecimal(i, precision, scale);
        }

        public TimestampData getTimestamp(int i, int precision) {
            return array.getTimestamp(i, precision);
        }

        public ArrayData getArray(int i) {
            return array.getArray(i);
        }
    }
}
