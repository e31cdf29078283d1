package org.lastword.flink;

import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Reads on a thread of its own, a few pieces ahead of what the task has taken. */
final class LastwordSourceReader implements SourceReader<RowData, LastwordSource.Split> {
    private static final int PIECES_AHEAD = 4;
    private static final long WAIT_MILLIS = 50;

    /** Rows of one hand-over; the last one has none, and the error if there was one. */
    private record Piece(ByteBuffer rows, long count, Throwable error) {}

    private final byte[] uri;
    private final TableShape shape;
    private final SourceReaderContext context;
    private final BlockingQueue<Piece> pieces = new ArrayBlockingQueue<>(PIECES_AHEAD);
    private final RowDecoder decoder;
    private boolean noMoreSplits;
    private LastwordSource.Split split;
    private Thread scanner;
    private volatile boolean closed;
    private Piece current;
    private long leftInPiece;
    private long toSkip;

    LastwordSourceReader(String uri, TableShape shape, SourceReaderContext context) {
        this.uri = uri.getBytes(StandardCharsets.UTF_8);
        this.shape = shape;
        this.context = context;
        this.decoder = new RowDecoder(shape);
    }

    @Override
    public void start() {
        if (split == null) {
            context.sendSplitRequest();
        }
    }

    @Override
    public void addSplits(List<LastwordSource.Split> splits) {
        split = splits.get(0);
        // A restored reader asks for nothing: there is no other split.
        noMoreSplits = true;
    }

    @Override
    public void notifyNoMoreSplits() {
        noMoreSplits = true;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<RowData> output) throws Exception {
        if (split == null) {
            return noMoreSplits ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
        }
        if (scanner == null && current == null) {
            begin();
        }
        if (leftInPiece == 0) {
            // Short, so that checkpoints and the end of the job are not kept waiting.
            Piece next = pieces.poll(WAIT_MILLIS, TimeUnit.MILLISECONDS);
            if (next == null) {
                return InputStatus.MORE_AVAILABLE;
            }
            if (next.error() != null) {
                throw new IOException("reading the table failed: " + next.error().getMessage(),
                        next.error());
            }
            if (next.count() == 0) {
                return InputStatus.END_OF_INPUT;
            }
            current = next;
            leftInPiece = next.count();
        }
        giveOne(output);
        return InputStatus.MORE_AVAILABLE;
    }

    private void giveOne(ReaderOutput<RowData> output) {
        RowData row = current.rows() == null ? new GenericRowData(0) : decoder.take(current.rows());
        --leftInPiece;
        if (toSkip > 0) {
            --toSkip;
            return;
        }
        split = new LastwordSource.Split(split.version(), split.rowsGiven() + 1);
        output.collect(row);
    }

    private void begin() throws IOException {
        JsonNode table = TableShape.json().readTree(Native.describe(uri, split.version()));
        if (!table.get("exists").asBoolean()) {
            scanner = new Thread(() -> {});
            pieces.add(new Piece(null, 0, null));
            return;
        }
        checkColumns(table);
        split = new LastwordSource.Split(table.get("lance_version").asLong(), split.rowsGiven());
        toSkip = split.rowsGiven();
        long rows = table.get("rows").asLong();
        boolean countsOnly = shape.rowType().getFieldCount() == 0;
        scanner = new Thread(() -> scan(countsOnly, rows), "lastword-scan");
        scanner.setDaemon(true);
        scanner.start();
    }

    private void checkColumns(JsonNode table) throws IOException {
        for (int i = 0; i < shape.rowType().getFieldCount(); ++i) {
            String name = shape.rowType().getFieldNames().get(i);
            String declared = shape.storedTypeOf(i);
            String stored = null;
            for (JsonNode column : table.get("columns")) {
                if (column.get("name").asText().equals(name)) {
                    stored = column.get("type").asText();
                }
            }
            if (!declared.equals(stored)) {
                throw new IOException("schema_incompatible: column " + name + " is declared as "
                        + declared + ", in the table it is "
                        + (stored == null ? "absent" : stored));
            }
        }
    }

    private void scan(boolean countsOnly, long rows) {
        Throwable error = null;
        try {
            if (countsOnly) {
                put(new Piece(null, rows, null));
            } else {
                ArrayNode columns = TableShape.json().createArrayNode();
                shape.rowType().getFieldNames().forEach(columns::add);
                Native.scan(uri, split.version(), TableShape.bytes(columns), this::take);
            }
        } catch (Throwable e) {
            error = e;
        }
        put(new Piece(null, 0, error));
    }

    private boolean take(ByteBuffer rows, long count) {
        // The native memory is gone after the call.
        ByteBuffer copy = ByteBuffer.allocate(rows.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        copy.put(rows).flip();
        return put(new Piece(copy, count, null));
    }

    private boolean put(Piece piece) {
        try {
            while (!closed) {
                if (pieces.offer(piece, WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
                    return true;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }

    @Override
    public List<LastwordSource.Split> snapshotState(long checkpointId) {
        return split == null ? List.of() : List.of(split);
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        if (split != null || noMoreSplits) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.runAsync(() -> {},
                CompletableFuture.delayedExecutor(WAIT_MILLIS, TimeUnit.MILLISECONDS));
    }

    @Override
    public void close() throws Exception {
        closed = true;
        if (scanner != null) {
            scanner.join();
        }
    }
}
