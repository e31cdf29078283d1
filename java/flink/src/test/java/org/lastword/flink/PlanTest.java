package org.lastword.flink;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the planner makes of a statement: nothing is added, and what cannot work is refused. */
class PlanTest {
    private static final String WITH = "WITH ('connector' = 'lastword', 'uri' = '/nowhere/t.lance'";

    private StreamTableEnvironment tables;

    @BeforeEach
    void declare() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(3);
        tables = StreamTableEnvironment.create(env);
        Schema withKey = Schema.newBuilder().column("f0", "BIGINT NOT NULL")
                .column("f1", "STRING").primaryKey("f0").build();
        Schema withoutKey =
                Schema.newBuilder().column("f0", "BIGINT NOT NULL").column("f1", "STRING").build();
        var stream = env.fromData(Row.of(1L, "a"));
        tables.createTemporaryView("keyed",
                tables.fromChangelogStream(stream, withKey, ChangelogMode.all()));
        tables.createTemporaryView("keyless",
                tables.fromChangelogStream(stream, withoutKey, ChangelogMode.all()));
        tables.createTemporaryView("upserts",
                tables.fromChangelogStream(stream, withKey, ChangelogMode.upsert()));
        tables.executeSql("CREATE TABLE sink (k BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED) "
                + WITH + ")");
        tables.executeSql("CREATE TABLE versioned (k BIGINT, v BIGINT, PRIMARY KEY (k) NOT "
                + "ENFORCED) " + WITH + ", 'sequence.columns' = 'v')");
        tables.executeSql("CREATE TABLE upsert_sink (k BIGINT, v STRING, PRIMARY KEY (k) NOT "
                + "ENFORCED) " + WITH + ", 'changelog-mode' = 'upsert')");
        tables.executeSql("CREATE TABLE appends (k BIGINT, v STRING) " + WITH + ")");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "sink SELECT * FROM keyed",
        "sink SELECT * FROM keyless",
        "sink SELECT f0, MAX(f1) FROM keyed GROUP BY f0",
        "sink SELECT f0, f1 FROM keyless WHERE f1 <> 'x'",
        "versioned SELECT f0, CHAR_LENGTH(f1) FROM keyless",
        "upsert_sink SELECT * FROM upserts",
        "upsert_sink SELECT * FROM keyed"})
    void nothingIsAdded(String statement) {
        String plan = tables.explainSql("INSERT INTO " + statement);
        assertFalse(plan.contains("upsertMaterialize"), plan);
        assertFalse(plan.contains("ChangelogNormalize"), plan);
    }

    @Test
    void aChangelogIntoATableWithoutKeyIsRefused() {
        assertThrows(TableException.class,
                () -> tables.explainSql("INSERT INTO appends SELECT * FROM keyed"));
        assertFalse(tables.explainSql("INSERT INTO appends VALUES (1, 'a')").isEmpty());
    }

    private String refused(String ddl) {
        tables.executeSql(ddl);
        Throwable error = assertThrows(ValidationException.class,
                () -> tables.explainSql("INSERT INTO bad SELECT * FROM bad"));
        StringBuilder all = new StringBuilder();
        for (; error != null; error = error.getCause()) {
            all.append(error.getMessage()).append('\n');
        }
        return all.toString();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "c MAP<STRING, INT> | 'c'",
        "c TIMESTAMP(9) | 'c'",
        "c ROW<a INT> | 'c'",
        "c MULTISET<INT> | 'c'",
        "c ARRAY<MAP<INT, INT>> | 'c'",
        "`a.b` INT | 'a.b'",
        "`_lw_hi` INT | '_lw_hi'"})
    void columnsThatCannotBeHeldAreNamed(String column, String named) {
        String message = refused("CREATE TABLE bad (k INT, " + column
                + ", PRIMARY KEY (k) NOT ENFORCED) " + WITH + ")");
        assertTrue(message.contains(named), message);
    }

    @Test
    void optionsAreChecked() {
        String[][] bad = {{"'on-conflict' = 'ignore'", "on-conflict"},
                {"'sequence.columns' = 'nope'", "nope"}, {"'sequence.columns' = 's'", "'s'"},
                {"'column.types.s' = 'int64'", "'s'"}, {"'column.types.x' = 'json'", "x"},
                {"'onconflict' = 'fail'", "onconflict"},
                {"'compaction.fragments' = '1'", "compaction.fragments"},
                {"'compaction.fragments' = '1001'", "compaction.fragments"},
                {"'keep.versions' = '-1'", "keep.versions"},
                {"'keep.versions' = 'some'", "keep.versions"},
                {"'keep.for' = '3 ages'", "keep.for"}, {"'keep.ratio' = '-2'", "keep.ratio"},
                {"'keep.ratio' = '0.5'", "keep.ratio"}, {"'keep.forever' = 'x'", "keep.forever"}};
        for (String[] option : bad) {
            String message = refused("CREATE TABLE bad (k INT, s STRING, PRIMARY KEY (k) NOT "
                    + "ENFORCED) " + WITH + ", " + option[0] + ")");
            assertTrue(message.contains(option[1]), message);
            tables.executeSql("DROP TABLE bad");
        }
    }
}
