package org.lastword.flink;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Environments for tests, and an independent reader of what they leave behind. */
final class Harness {
    private static final String READER = String.join("\n",
            "import lance, json, sys",
            "d = lance.dataset(sys.argv[1])",
            "d.validate()",
            "columns = [c for c in d.schema.names if not c.startswith('_lw_')]",
            "rows = d.to_table(columns=columns).to_pylist()",
            "assert d.count_rows() == len(rows)",
            "print(json.dumps({'version': d.version, 'rows': rows}, default=str))");

    private static final String HISTORIAN = String.join("\n",
            "import lance, json, sys",
            "d = lance.dataset(sys.argv[1])",
            "steps = [d.read_transaction(v['version']).operation for v in d.versions()]",
            "print(json.dumps([type(step).__name__ for step in steps]))");

    // Another program that rewrites the table while it is written to: as it would, it tries again.
    private static final String COMPACTOR = String.join("\n",
            "import lance, os, sys, time",
            "for attempt in range(100):",
            "    try:",
            "        d = lance.dataset(sys.argv[1])",
            "        d.optimize.compact_files(target_rows_per_fragment=1 << 20,",
            "            materialize_deletions_threshold=0.0)",
            "        sys.exit(0)",
            "    except (OSError, ValueError, RuntimeError):",
            "        time.sleep(0.1)",
            "sys.exit('no compaction')");

    private Harness() {}

    static StreamExecutionEnvironment environment(int parallelism, Path folder) {
        return environment(parallelism, folder, 100);
    }

    static StreamExecutionEnvironment environment(int parallelism, Path folder, long interval) {
        Configuration config = new Configuration();
        config.setString("execution.checkpointing.interval", interval + " ms");
        config.setString("execution.checkpointing.dir", folder.resolve("checkpoints").toUri()
                .toString());
        config.setString("restart-strategy.type", "fixed-delay");
        config.setString("restart-strategy.fixed-delay.attempts", "100");
        config.setString("restart-strategy.fixed-delay.delay", "50 ms");
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(parallelism);
        return env;
    }

    static StreamTableEnvironment tables(StreamExecutionEnvironment env) {
        return StreamTableEnvironment.create(env);
    }

    /** The table as pylance sees it: {"version": …, "rows": […]}. */
    static JsonNode read(String uri) throws Exception {
        return TableShape.json().readTree(pylance(READER, uri));
    }

    /** What each version of the table that is still there did: Update, Rewrite, … */
    static List<String> history(String uri) throws Exception {
        List<String> operations = new ArrayList<>();
        TableShape.json().readTree(pylance(HISTORIAN, uri))
                .forEach(operation -> operations.add(operation.asText()));
        return operations;
    }

    /** Compacts the table with pylance, deleted rows too, whatever else happens to it. */
    static void compact(String uri) {
        try {
            pylance(COMPACTOR, uri);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pylance(String program, String uri)
            throws IOException, InterruptedException {
        Process python = new ProcessBuilder(python(), "-c", program, uri)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        byte[] out = python.getInputStream().readAllBytes();
        if (!python.waitFor(1, TimeUnit.MINUTES) || python.exitValue() != 0) {
            throw new IOException("pylance failed on " + uri);
        }
        return new String(out, StandardCharsets.UTF_8);
    }

    static String python() {
        String python = System.getProperty("lastword.test.python");
        if (python == null || python.isEmpty() || python.startsWith("${")) {
            throw new IllegalStateException("set LW_PYTHON to a Python that has pylance");
        }
        return python;
    }

    static Map<Long, String> readMap(String uri, String key, String value) throws Exception {
        return mapOf(read(uri), key, value);
    }

    /** Two columns of a table that was read, as a map; fails where a key is there twice. */
    static Map<Long, String> mapOf(JsonNode table, String key, String value) {
        List<JsonNode> rows = new ArrayList<>();
        table.get("rows").forEach(rows::add);
        return rows.stream().collect(
                Collectors.toMap(row -> row.get(key).asLong(), row -> row.get(value).asText()));
    }
}
