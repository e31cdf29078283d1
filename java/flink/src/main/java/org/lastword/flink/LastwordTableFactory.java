package org.lastword.flink;

import static org.apache.flink.table.factories.FactoryUtil.SINK_PARALLELISM;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.logical.RowType;

import java.util.List;
import java.util.Set;
import java.util.UUID;

/** `'connector' = 'lastword'`: sinks and bounded sources of declared tables. */
public final class LastwordTableFactory
        implements DynamicTableSinkFactory, DynamicTableSourceFactory {
    static final String IDENTIFIER = "lastword";

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(LastwordOptions.URI);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(LastwordOptions.SEQUENCE_COLUMNS, LastwordOptions.SEQUENCE_OF_DELETES,
                LastwordOptions.CHANGELOG_MODE, LastwordOptions.LONE_UPDATE_BEFORE,
                LastwordOptions.ON_CONFLICT, LastwordOptions.SCHEMA_EVOLUTION,
                LastwordOptions.DURABILITY,
                LastwordOptions.STORAGE_VERSION, LastwordOptions.MEMORY,
                LastwordOptions.COMPACTION, LastwordOptions.COMPACTION_FRAGMENTS,
                LastwordOptions.KEEP_VERSIONS, LastwordOptions.KEEP_FOR, LastwordOptions.KEEP_RATIO,
                LastwordOptions.APPEND_ID_COLUMN,
                LastwordOptions.COLUMN_TYPES, LastwordOptions.BATCH_MAX_SIZE,
                LastwordOptions.LOCK_WAIT, LastwordOptions.SCAN_VERSION, SINK_PARALLELISM);
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        ReadableConfig options = optionsOf(context);
        TableShape shape = shapeOf(context, options);
        List<String> sequence = options.getOptional(LastwordOptions.SEQUENCE_COLUMNS)
                .orElse(List.of());
        checkSequence(shape, sequence, options);
        String tableOptions = tableOptions(context, options, shape);
        // A new submission is another writer of checkpoints, even where it restores a savepoint.
        String sinkId = UUID.randomUUID().toString();
        SinkConfig config = new SinkConfig(options.get(LastwordOptions.URI), sinkId, shape,
                tableOptions,
                SinkConfig.writerOptions(shape, sequence,
                        options.get(LastwordOptions.SEQUENCE_OF_DELETES)),
                options.get(LastwordOptions.BATCH_MAX_SIZE).getBytes(),
                options.get(LastwordOptions.LOCK_WAIT).toMillis());
        return new LastwordTableSink(config,
                options.get(LastwordOptions.CHANGELOG_MODE).equals("upsert"),
                options.getOptional(SINK_PARALLELISM).orElse(null));
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        ReadableConfig options = optionsOf(context);
        return new LastwordTableSource(options.get(LastwordOptions.URI),
                options.get(LastwordOptions.SCAN_VERSION), shapeOf(context, options));
    }

    private ReadableConfig optionsOf(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig options = helper.getOptions();
        oneOf(options, LastwordOptions.SEQUENCE_OF_DELETES, "own", "row");
        oneOf(options, LastwordOptions.CHANGELOG_MODE, "all", "upsert");
        oneOf(options, LastwordOptions.LONE_UPDATE_BEFORE, "delete", "drop", "fail");
        oneOf(options, LastwordOptions.ON_CONFLICT, "fail", "quarantine");
        oneOf(options, LastwordOptions.SCHEMA_EVOLUTION, "exception", "evolve");
        oneOf(options, LastwordOptions.DURABILITY, "fsync", "process");
        return options;
    }

    private static void oneOf(ReadableConfig options, ConfigOption<String> option,
            String... words) {
        if (!List.of(words).contains(options.get(option))) {
            throw new ValidationException("'" + option.key() + "' is '" + options.get(option)
                    + "'; it is one of " + String.join(", ", words) + ".");
        }
    }

    private static TableShape shapeOf(Context context, ReadableConfig options) {
        return TableShape.of((RowType) context.getPhysicalRowDataType().getLogicalType(),
                context.getPrimaryKeyIndexes(), options.get(LastwordOptions.COLUMN_TYPES),
                options.get(LastwordOptions.APPEND_ID_COLUMN));
    }

    private static void checkSequence(TableShape shape, List<String> sequence,
            ReadableConfig options) {
        if (sequence.isEmpty()) {
            return;
        }
        if (shape.appends()) {
            throw new ValidationException("'sequence.columns' order the changes of a key: the "
                    + "table needs a PRIMARY KEY … NOT ENFORCED.");
        }
        boolean ranked = options.get(LastwordOptions.SEQUENCE_OF_DELETES).equals("row");
        int most = ranked ? 2 : 3;
        if (sequence.size() > most) {
            throw new ValidationException("'sequence.columns' names " + sequence.size()
                    + " columns; at most " + most + " are possible here.");
        }
        if (options.get(LastwordOptions.CHANGELOG_MODE).equals("upsert")) {
            throw new ValidationException("'sequence.columns' need whole rows, but deletes of an "
                    + "upsert stream hold their key only: leave 'changelog-mode' at all.");
        }
        for (String name : sequence) {
            int column = shape.rowType().getFieldIndex(name);
            if (column < 0) {
                throw new ValidationException("'sequence.columns' names '" + name
                        + "', which is not a column of the table.");
            }
            String type = shape.storedTypeOf(column);
            if (!type.matches("u?int\\d+|date|time_us|timestamp(tz)?_us")) {
                throw new ValidationException("Column '" + name + "' is " + type + ": a sequence "
                        + "needs an integer, date, time or timestamp.");
            }
        }
    }

    private static String tableOptions(Context context, ReadableConfig options, TableShape shape) {
        ObjectNode json = shape.toJson();
        json.put("on_conflict", options.get(LastwordOptions.ON_CONFLICT));
        json.put("lone_update_before", options.get(LastwordOptions.LONE_UPDATE_BEFORE));
        json.put("schema_evolution", options.get(LastwordOptions.SCHEMA_EVOLUTION));
        json.put("durability", options.get(LastwordOptions.DURABILITY));
        json.put("compaction", options.get(LastwordOptions.COMPACTION));
        putMaintenance(options, json);
        options.getOptional(LastwordOptions.STORAGE_VERSION)
                .ifPresent(version -> json.put("storage_version", version));
        options.getOptional(LastwordOptions.MEMORY).map(MemorySize::getBytes)
                .ifPresent(bytes -> json.put("memory_bytes_max", bytes));
        json.put("input", "flink:" + context.getObjectIdentifier().getObjectName());
        return json.toString();
    }

    /** What is not set has the native library's default. */
    private static void putMaintenance(ReadableConfig options, ObjectNode json) {
        options.getOptional(LastwordOptions.COMPACTION_FRAGMENTS).ifPresent(fragments -> json.put(
                "compaction_fragments",
                inRange(LastwordOptions.COMPACTION_FRAGMENTS, fragments, 2, 1000)));
        options.getOptional(LastwordOptions.KEEP_VERSIONS).ifPresent(versions -> json.put(
                "keep_versions",
                inRange(LastwordOptions.KEEP_VERSIONS, versions, 0, Long.MAX_VALUE)));
        options.getOptional(LastwordOptions.KEEP_FOR).ifPresent(time -> json.put("keep_seconds",
                inRange(LastwordOptions.KEEP_FOR, time.toSeconds(), 0, Long.MAX_VALUE)));
        options.getOptional(LastwordOptions.KEEP_RATIO).ifPresent(ratio -> json.put("keep_ratio",
                inRange(LastwordOptions.KEEP_RATIO, ratio, 0, Long.MAX_VALUE)));
    }

    private static long inRange(ConfigOption<?> option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ValidationException("'" + option.key() + "' is " + value + "; it is at least "
                    + least + (most == Long.MAX_VALUE ? "" : " and at most " + most) + ".");
        }
        return value;
    }
}
