package org.lastword.flink;

import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.groups.SinkCommitterMetricGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/**
 * Makes each checkpoint one commit of the table. Holds the table open from its first commit on; all
 * batches come to one subtask, but after a restore another may get some first, and lets the table
 * go at once.
 */
final class LastwordCommitter implements Committer<Committable> {
    private static final Logger LOG = LoggerFactory.getLogger(LastwordCommitter.class);
    private static final int ATTEMPTS_MAX = 5;
    private static final long PAUSE_MILLIS = 200;

    private final SinkConfig config;
    private final boolean keepsOpen;
    private final Counter applied;
    private final Counter stale;
    private final Counter repeat;
    private final Counter conflict;
    private final Counter commits;
    private long table;
    private volatile CommitResult last = CommitResult.NONE;
    private volatile long commitMillis;

    /** The fields of lastword_commit_result. */
    private record CommitResult(long lanceVersion, boolean alreadyCommitted, long rowsWritten,
            long rowsDeleted, long bytesWritten, long applied, long stale, long belowFloor,
            long repeat, long conflict, long quarantined, long tombstones) {
        static final CommitResult NONE = of(new long[12]);

        static CommitResult of(long[] f) {
            return new CommitResult(f[0], f[1] != 0, f[2], f[3], f[4], f[5], f[6], f[7], f[8],
                    f[9], f[10], f[11]);
        }
    }

    /** A checkpoint of one sink; restored ones may come from an earlier submission. */
    private record CheckpointKey(long checkpointId, String sinkId)
            implements Comparable<CheckpointKey> {
        @Override
        public int compareTo(CheckpointKey other) {
            return Comparator.comparingLong(CheckpointKey::checkpointId)
                    .thenComparing(CheckpointKey::sinkId).compare(this, other);
        }
    }

    LastwordCommitter(SinkConfig config, CommitterInitContext context) {
        this.config = config;
        this.keepsOpen = context.getTaskInfo().getIndexOfThisSubtask() == 0;
        SinkCommitterMetricGroup metrics = context.metricGroup();
        applied = metrics.counter("changesApplied");
        stale = metrics.counter("changesStale");
        repeat = metrics.counter("changesRepeat");
        conflict = metrics.counter("changesConflict");
        commits = metrics.counter("commits");
        metrics.gauge("tombstones", () -> last.tombstones());
        metrics.gauge("lanceVersion", () -> last.lanceVersion());
        metrics.gauge("commitMillis", () -> commitMillis);
    }

    @Override
    public void commit(Collection<CommitRequest<Committable>> requests)
            throws IOException, InterruptedException {
        TreeMap<CheckpointKey, List<CommitRequest<Committable>>> checkpoints = new TreeMap<>();
        for (CommitRequest<Committable> request : requests) {
            Committable batch = request.getCommittable();
            checkpoints.computeIfAbsent(
                    new CheckpointKey(batch.checkpointId(), batch.sinkId()),
                    key -> new ArrayList<>()).add(request);
        }
        for (var checkpoint : checkpoints.entrySet()) {
            commitCheckpoint(checkpoint.getKey(), checkpoint.getValue());
        }
        if (!keepsOpen) {
            close();
        }
    }

    private void commitCheckpoint(CheckpointKey key, List<CommitRequest<Committable>> requests)
            throws IOException, InterruptedException {
        requests.sort(Comparator
                .comparingInt((CommitRequest<Committable> r) -> r.getCommittable().writer())
                .thenComparingInt(r -> r.getCommittable().ordinal()));
        byte[] id = idOf(key, requests).getBytes(StandardCharsets.UTF_8);
        byte[][] arrays = requests.stream().map(r -> r.getCommittable().bytes())
                .toArray(byte[][]::new);
        int[] begins = requests.stream().mapToInt(r -> r.getCommittable().batchAt()).toArray();
        long began = System.nanoTime();
        CommitResult result = commitWithRetries(id, arrays, begins);
        commitMillis = (System.nanoTime() - began) / 1_000_000;
        last = result;
        if (result.alreadyCommitted()) {
            LOG.info("checkpoint {} of {} is already committed (Lance version {})",
                    key.checkpointId(), config.uri, result.lanceVersion());
            requests.forEach(CommitRequest::signalAlreadyCommitted);
            return;
        }
        commits.inc();
        applied.inc(result.applied());
        stale.inc(result.stale());
        repeat.inc(result.repeat());
        conflict.inc(result.conflict());
        LOG.debug("checkpoint {} of {}: {} in {} ms", key.checkpointId(), config.uri, result,
                commitMillis);
    }

    /**
     * The identity of a checkpoint holds its batches: numbers of checkpoints begin anew when a job
     * starts without its state, identities never do.
     */
    private static String idOf(CheckpointKey key, List<CommitRequest<Committable>> requests) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            requests.stream().map(r -> r.getCommittable().batchId()).sorted()
                    .forEach(id -> digest.update(id.getBytes(StandardCharsets.UTF_8)));
            String batches = HexFormat.of().formatHex(digest.digest(), 0, 16);
            return "flink/" + key.sinkId() + "/" + key.checkpointId() + "/" + batches;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private CommitResult commitWithRetries(byte[] id, byte[][] arrays, int[] begins)
            throws IOException, InterruptedException {
        for (int attempt = 1;; ++attempt) {
            try {
                open();
                return CommitResult.of(Native.tableCommit(table, id, arrays, begins));
            } catch (LastwordException e) {
                close();
                if (!e.isRepeatable() || attempt == ATTEMPTS_MAX) {
                    LOG.error("commit to {} failed: {}", config.uri, e.getMessage());
                    throw e;
                }
                LOG.warn("commit to {} failed, attempt {} of {}: {}", config.uri, attempt,
                        ATTEMPTS_MAX, e.getMessage());
                Thread.sleep(PAUSE_MILLIS << attempt);
            }
        }
    }

    /** Waits for a committer of this job that has not let the table go yet. */
    private void open() throws IOException, InterruptedException {
        long deadline = System.nanoTime() + config.lockWaitMillis * 1_000_000;
        while (table == 0) {
            try {
                table = Native.tableOpen(config.uriBytes(),
                        config.tableOptions.getBytes(StandardCharsets.UTF_8));
            } catch (LastwordException e) {
                if (!e.isKind("fenced_writer") || System.nanoTime() > deadline) {
                    throw e;
                }
                LOG.info("waiting for {}: {}", config.uri, e.getMessage());
                Thread.sleep(PAUSE_MILLIS);
            }
        }
    }

    @Override
    public void close() {
        if (table != 0) {
            Native.tableClose(table);
            table = 0;
        }
    }
}
