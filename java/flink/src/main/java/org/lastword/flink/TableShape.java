package org.lastword.flink;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The columns and the key of one table, as Flink and as the native library know them. */
final class TableShape implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final RowType rowType;
    private final List<String> storedTypes;
    private final int[] key;
    /** Name of the identity column of a table without a key; null with one. */
    private final String appendKey;

    private TableShape(RowType rowType, List<String> storedTypes, int[] key, String appendKey) {
        this.rowType = rowType;
        this.storedTypes = storedTypes;
        this.key = key;
        this.appendKey = appendKey;
    }

    /** Fails with a ValidationException that names the column. */
    static TableShape of(RowType rowType, int[] key, Map<String, String> declaredTypes,
            String appendKey) {
        Set<String> undeclared = new HashSet<>(declaredTypes.keySet());
        List<String> stored = new ArrayList<>();
        for (RowType.RowField field : rowType.getFields()) {
            String name = field.getName();
            stored.add(ColumnTypes.stored(name, field.getType(), declaredTypes.get(name)));
            undeclared.remove(name);
            if (name.startsWith("_lw_") || name.contains(".") || name.isEmpty()) {
                throw new ValidationException("Column '" + name + "' cannot be stored: names that "
                        + "start with _lw_ or hold a dot are not possible in a Lastword table.");
            }
        }
        if (!undeclared.isEmpty()) {
            throw new ValidationException("'column.types' names columns that the table does not "
                    + "have: " + undeclared);
        }
        for (int column : key) {
            String type = stored.get(column);
            if (type.startsWith("list<") || type.startsWith("vector(")) {
                throw new ValidationException("Column '" + rowType.getFieldNames().get(column)
                        + "' is " + type + " and cannot be part of a primary key.");
            }
        }
        boolean appends = key.length == 0;
        if (appends && rowType.getFieldNames().contains(appendKey)) {
            throw new ValidationException("Column '" + appendKey + "' is the identity column of a "
                    + "table without a primary key. Rename it, or set 'append.id-column'.");
        }
        return new TableShape(rowType, stored, key, appends ? appendKey : null);
    }

    RowType rowType() {
        return rowType;
    }

    LogicalType typeOf(int column) {
        return rowType.getTypeAt(column);
    }

    String storedTypeOf(int column) {
        return storedTypes.get(column);
    }

    int[] key() {
        return key;
    }

    boolean appends() {
        return appendKey != null;
    }

    /** The shape of some of the columns, for reading. */
    TableShape project(int[] columns) {
        List<RowType.RowField> fields = new ArrayList<>();
        List<String> stored = new ArrayList<>();
        for (int column : columns) {
            fields.add(rowType.getFields().get(column));
            stored.add(storedTypes.get(column));
        }
        return new TableShape(new RowType(fields), stored, new int[0], appendKey);
    }

    /** A JSON object with the members "columns" and "key" or "append_key". */
    ObjectNode toJson() {
        ObjectNode json = JSON.createObjectNode();
        ArrayNode columns = json.putArray("columns");
        for (int i = 0; i < rowType.getFieldCount(); ++i) {
            columns.addObject()
                    .put("name", rowType.getFieldNames().get(i))
                    .put("type", storedTypes.get(i))
                    .put("nullable", rowType.getTypeAt(i).isNullable());
        }
        if (appends()) {
            json.put("append_key", appendKey);
        } else {
            ArrayNode names = json.putArray("key");
            for (int column : key) {
                names.add(rowType.getFieldNames().get(column));
            }
        }
        return json;
    }

    static byte[] bytes(Object json) {
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    static ObjectMapper json() {
        return JSON;
    }
}
