package org.lastword.flink;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a sink was declared with, in the form in which the native library takes it. */
final class SinkConfig implements Serializable {
    private static final long serialVersionUID = 1L;
    /** Flink writes records of more than 5 MiB to disk on their way to another task. */
    private static final long SEALED_BYTES_MAX = 4 << 20;

    final String uri;
    final String sinkId;
    final TableShape shape;
    final String tableOptions;
    final String writerOptions;
    final long batchBytesMax;
    final long lockWaitMillis;

    SinkConfig(String uri, String sinkId, TableShape shape, String tableOptions,
            String writerOptions, long batchBytesMax, long lockWaitMillis) {
        this.uri = uri;
        this.sinkId = sinkId;
        this.shape = shape;
        this.tableOptions = tableOptions;
        this.writerOptions = writerOptions;
        this.batchBytesMax = batchBytesMax;
        this.lockWaitMillis = lockWaitMillis;
    }

    byte[] uriBytes() {
        return uri.getBytes(StandardCharsets.UTF_8);
    }

    /** The options of a writer: a shape, and the columns that order its changes, if any. */
    static String writerOptions(TableShape shape, List<String> sequence, String sequenceOfDeletes) {
        ObjectNode json = shape.toJson();
        json.put("sealed_bytes_max", SEALED_BYTES_MAX);
        if (!sequence.isEmpty()) {
            ObjectNode versions = json.putObject("versions");
            ArrayNode columns = versions.putArray("columns");
            sequence.forEach(columns::add);
            versions.put("deletes", sequenceOfDeletes);
        }
        return json.toString();
    }
}
