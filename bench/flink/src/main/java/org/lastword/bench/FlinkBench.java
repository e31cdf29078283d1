package org.lastword.bench;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * One sink takes one changelog in a cluster inside this process, which measures itself from the
 * first event to the last commit, and then reads the table back. Prints one JSON object.
 */
public final class FlinkBench {
    private static final int PARALLELISM = 2;
    private static final String CHECKPOINT_INTERVAL = "5 s";
    private static final long ANSWER_NANOS = 2_000_000_000L;
    private static final String COLUMNS = "(k BIGINT, n BIGINT, payload STRING, "
            + "PRIMARY KEY (k) NOT ENFORCED)";

    private final String sink;
    private final Changelog changelog;
    private final Path folder;

    private FlinkBench(String sink, Changelog changelog, Path folder) {
        this.sink = sink;
        this.changelog = changelog;
        this.folder = folder;
    }

    /** Arguments: sink, events, keys, an empty folder. */
    public static void main(String[] args) {
        try {
            new FlinkBench(args[0],
                    new Changelog(Long.parseLong(args[1]), Long.parseLong(args[2])),
                    Path.of(args[3]).toAbsolutePath()).run();
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1);
        }
        // Threads of libraries may outlive their work.
        System.exit(0);
    }

    private void run() throws Exception {
        Usage[] begin = new Usage[1];
        ChangelogSource.onBegin = () -> begin[0] = Usage.now();
        try (MiniCluster cluster = startCluster()) {
            StreamTableEnvironment tables =
                    StreamTableEnvironment.create(environment(cluster, PARALLELISM));
            declare(tables, tables.getConfig()::set);
            TableResult insert = tables.executeSql("INSERT INTO sink SELECT * FROM "
                    + "default_catalog.default_database.changelog");
            awaitFinalCheckpoint(cluster, insert);
        }
        Usage used = Usage.now().minus(begin[0]);
        boolean right = true;
        double readSeconds = 0;
        if (!sink.startsWith("blackhole")) {
            long readBegin = System.nanoTime();
            TableEnvironment batch = TableEnvironment.create(EnvironmentSettings.newInstance()
                    .inBatchMode().withConfiguration(patient()).build());
            declare(batch, batch.getConfig()::set);
            Sums sums = Sums.of(batch, "sink");
            readSeconds = (System.nanoTime() - readBegin) / 1e9;
            right = sums.equals(changelog.outcome(PARALLELISM));
        }
        System.out.printf(Locale.ROOT, "{\"sink\": \"%s\", \"events\": %d, \"seconds\": %.3f, "
                + "\"cpu\": %.3f, \"bytes_written\": %d, \"table_bytes\": %d, \"peak_mb\": %d, "
                + "\"read_seconds\": %.3f, \"right\": %b}%n", sink, changelog.events,
                used.nanos / 1e9, used.cpuNanos / 1e9, used.bytesWritten,
                bytesUnder(folder.resolve("lake")), used.peakMegabytes, readSeconds, right);
    }

    /** A process that collects garbage for a minute is slow, not dead. */
    private static Configuration patient() {
        Configuration config = new Configuration();
        config.setString("heartbeat.timeout", "10 min");
        return config;
    }

    private MiniCluster startCluster() throws Exception {
        Configuration config = patient();
        config.setString("rest.port", "0");
        config.setString("rest.bind-port", "0");
        config.setString("taskmanager.memory.network.max", "128 mb");
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(config).setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(PARALLELISM).build());
        cluster.start();
        return cluster;
    }

    private StreamExecutionEnvironment environment(MiniCluster cluster, int parallelism) {
        StreamExecutionEnvironment env = new TestStreamEnvironment(cluster, parallelism);
        Configuration config = new Configuration();
        config.setString("execution.checkpointing.interval", CHECKPOINT_INTERVAL);
        config.setString("execution.checkpointing.dir",
                folder.resolve("checkpoints").toUri().toString());
        config.setString("restart-strategy.type", "none");
        env.configure(config);
        return env;
    }

    /** How a setting of the planner is made, which streaming and batch environments do apart. */
    private interface Settings {
        void set(String key, String value);
    }

    private void declare(TableEnvironment tables, Settings settings) {
        tables.executeSql("CREATE TABLE changelog " + COLUMNS
                + " WITH ('connector' = 'bench-changelog', 'events' = '" + changelog.events
                + "', 'keys' = '" + changelog.keys + "')");
        String lake = folder.resolve("lake").toString();
        switch (sink) {
            case "blackhole":
                create(tables, "'connector' = 'blackhole'");
                return;
            case "blackhole-shuffled":
                settings.set("table.exec.sink.keyed-shuffle", "FORCE");
                create(tables, "'connector' = 'blackhole'");
                return;
            case "lastword":
                create(tables, "'connector' = 'lastword', 'uri' = '" + lake + "/sink.lance'");
                return;
            case "lastword-sequence":
                create(tables, "'connector' = 'lastword', 'uri' = '" + lake
                        + "/sink.lance', 'sequence.columns' = 'n'");
                return;
            case "paimon":
            case "paimon-sequence":
                useCatalog(tables, "'type' = 'paimon', 'warehouse' = '" + lake + "'");
                create(tables, "'bucket' = '" + PARALLELISM + "'"
                        + (sink.equals("paimon") ? "" : ", 'sequence.field' = 'n'"));
                return;
            case "iceberg":
                useCatalog(tables, "'type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '"
                        + "file://" + lake + "'");
                create(tables, "'format-version' = '2', 'write.upsert.enabled' = 'true'");
                return;
            default:
                throw new IllegalArgumentException("no sink " + sink);
        }
    }

    private static void create(TableEnvironment tables, String options) {
        tables.executeSql("CREATE TABLE IF NOT EXISTS sink " + COLUMNS + " WITH (" + options
                + ")");
    }

    /** The sink lies in a catalog of its own; the changelog stays where it was declared. */
    private static void useCatalog(TableEnvironment tables, String options) {
        tables.executeSql("CREATE CATALOG lake WITH (" + options + ")");
        tables.executeSql("USE CATALOG lake");
        tables.executeSql("CREATE DATABASE IF NOT EXISTS bench");
        tables.executeSql("USE bench");
    }

    /**
     * At the end of the input no sink has to wait for the next regular checkpoint. The answer to a
     * request is not waited for without end: none comes where the job ends in the meantime.
     */
    private static void awaitFinalCheckpoint(MiniCluster cluster, TableResult insert)
            throws Exception {
        var job = insert.getJobClient().orElseThrow();
        // Asking for the status of a job costs more than many events: its end is waited for.
        CompletableFuture<?> ended = job.getJobExecutionResult();
        CompletableFuture<?> asked = null;
        long askedAt = 0;
        while (ChangelogSource.ENDED.get() < PARALLELISM && !ended.isDone()) {
            Thread.sleep(100);
        }
        while (!ended.isDone()) {
            if (asked == null || asked.isDone() || System.nanoTime() - askedAt > ANSWER_NANOS) {
                asked = cluster.triggerCheckpoint(job.getJobID(), CheckpointType.FULL);
                askedAt = System.nanoTime();
            }
            Thread.sleep(20);
        }
        insert.await();
    }

    private static long bytesUnder(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }

    /** What this process has used so far. */
    private record Usage(long nanos, long cpuNanos, long bytesWritten, long peakMegabytes) {
        static Usage now() {
            var system = (com.sun.management.OperatingSystemMXBean)
                    ManagementFactory.getOperatingSystemMXBean();
            return new Usage(System.nanoTime(), system.getProcessCpuTime(),
                    field("/proc/self/io", "wchar:"),
                    field("/proc/self/status", "VmHWM:") / 1024);
        }

        Usage minus(Usage begin) {
            return new Usage(nanos - begin.nanos, cpuNanos - begin.cpuNanos,
                    bytesWritten - begin.bytesWritten, peakMegabytes);
        }

        private static long field(String file, String name) {
            try (Stream<String> lines = Files.lines(Path.of(file))) {
                return lines.filter(line -> line.startsWith(name))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .findFirst().orElseThrow();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }
}
