package org.lastword.flink;

import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.ArrayType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Types of Flink as types of the table, and back. What a table cannot hold exactly is refused when
 * the statement is planned, with the column's name.
 */
final class ColumnTypes {
    private static final int MICROSECONDS = 6;
    private static final Pattern VECTOR = Pattern.compile("vector\\((\\d+)\\)");
    private static final Pattern DECIMAL = Pattern.compile("decimal\\((\\d+),(\\d+)\\)");
    private static final Pattern LIST = Pattern.compile("list<(.*)>");

    /** Stored types that a column of a Flink type may be declared as with 'column.types.NAME'. */
    private static final Map<LogicalTypeRoot, Set<String>> DECLARABLE = Map.of(
            LogicalTypeRoot.VARCHAR, Set.of("string", "json", "uuid"),
            LogicalTypeRoot.CHAR, Set.of("string", "uuid"),
            LogicalTypeRoot.SMALLINT, Set.of("int16", "uint8"),
            LogicalTypeRoot.INTEGER, Set.of("int32", "uint16"),
            LogicalTypeRoot.BIGINT, Set.of("int64", "uint32"));

    private ColumnTypes() {}

    /** The stored type of a column, as text; `declared` may be null. */
    static String stored(String column, LogicalType type, String declared) {
        String natural = natural(column, type);
        if (declared == null || declared.equals(natural)) {
            return natural;
        }
        boolean vector = VECTOR.matcher(declared).matches() && natural.equals("list<float32>");
        Set<String> others = DECLARABLE.getOrDefault(type.getTypeRoot(), Set.of());
        if (vector || others.contains(declared)) {
            return declared;
        }
        throw new ValidationException("Column '" + column + "' is " + type.asSummaryString()
                + " and cannot be stored as " + declared + ".");
    }

    private static String natural(String column, LogicalType type) {
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return "bool";
            case TINYINT:
                return "int8";
            case SMALLINT:
                return "int16";
            case INTEGER:
                return "int32";
            case BIGINT:
                return "int64";
            case FLOAT:
                return "float32";
            case DOUBLE:
                return "float64";
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return "decimal(" + decimal.getPrecision() + "," + decimal.getScale() + ")";
            case CHAR:
            case VARCHAR:
                return "string";
            case BINARY:
            case VARBINARY:
                return "bytes";
            case DATE:
                return "date";
            case TIME_WITHOUT_TIME_ZONE:
                return "time_us";
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return micros(column, type, "timestamp_us");
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return micros(column, type, "timestamptz_us");
            case ARRAY:
                return "list<" + natural(column, ((ArrayType) type).getElementType()) + ">";
            default:
                throw new ValidationException("Column '" + column + "' is "
                        + type.asSummaryString() + ", which a Lastword table cannot hold. Leave it "
                        + "out, or CAST it (to STRING, for example) in the query.");
        }
    }

    private static String micros(String column, LogicalType type, String stored) {
        int precision = LogicalTypeChecks.getPrecision(type);
        if (precision > MICROSECONDS) {
            throw new ValidationException("Column '" + column + "' is " + type.asSummaryString()
                    + ", but a Lastword table keeps microseconds. Declare a precision of at most "
                    + "6.");
        }
        return stored;
    }

    /** The Flink type that shows a stored type. */
    static DataType shown(String stored) {
        switch (stored) {
            case "bool":
                return DataTypes.BOOLEAN();
            case "int8":
                return DataTypes.TINYINT();
            case "int16":
            case "uint8":
                return DataTypes.SMALLINT();
            case "int32":
            case "uint16":
                return DataTypes.INT();
            case "int64":
            case "uint32":
                return DataTypes.BIGINT();
            case "float32":
                return DataTypes.FLOAT();
            case "float64":
                return DataTypes.DOUBLE();
            case "string":
            case "json":
            case "uuid":
                return DataTypes.STRING();
            case "bytes":
                return DataTypes.BYTES();
            case "date":
                return DataTypes.DATE();
            case "time_us":
                return DataTypes.TIME(3);
            case "timestamp_us":
                return DataTypes.TIMESTAMP(MICROSECONDS);
            case "timestamptz_us":
                return DataTypes.TIMESTAMP_LTZ(MICROSECONDS);
            default:
                return shownCompound(stored);
        }
    }

    private static DataType shownCompound(String stored) {
        Matcher decimal = DECIMAL.matcher(stored);
        if (decimal.matches() && Integer.parseInt(decimal.group(1)) <= DecimalType.MAX_PRECISION) {
            return DataTypes.DECIMAL(Integer.parseInt(decimal.group(1)),
                    Integer.parseInt(decimal.group(2)));
        }
        Matcher list = LIST.matcher(stored);
        if (list.matches()) {
            return DataTypes.ARRAY(shown(list.group(1)));
        }
        if (VECTOR.matcher(stored).matches()) {
            return DataTypes.ARRAY(DataTypes.FLOAT());
        }
        throw new ValidationException("Flink has no type for " + stored + ".");
    }
}
