package org.lastword.bench;

import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;

/** What identifies a table for the benchmark: one pass over all its rows and columns. */
record Sums(long rows, long k, long n, long product, long payload) {
    static final long MODULUS = 1_000_003;

    static Sums of(TableEnvironment tables, String table) throws Exception {
        String query = "SELECT COUNT(*), SUM(k), SUM(n), SUM(CAST(MOD(k * n, " + MODULUS
                + ") AS BIGINT)), SUM(CAST(CHAR_LENGTH(payload) AS BIGINT)) FROM " + table;
        try (var result = tables.executeSql(query).collect()) {
            Row row = result.next();
            return new Sums((long) row.getField(0), value(row, 1), value(row, 2), value(row, 3),
                    value(row, 4));
        }
    }

    private static long value(Row row, int i) {
        Object value = row.getField(i);
        return value == null ? 0 : (long) value;
    }
}
