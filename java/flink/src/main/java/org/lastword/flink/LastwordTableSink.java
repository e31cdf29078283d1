package org.lastword.flink;

import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;

/** The sink of a SQL statement. */
final class LastwordTableSink implements DynamicTableSink {
    private final SinkConfig config;
    private final boolean upserts;
    private final Integer parallelism;

    LastwordTableSink(SinkConfig config, boolean upserts, Integer parallelism) {
        this.config = config;
        this.upserts = upserts;
        this.parallelism = parallelism;
    }

    /**
     * All kinds of changes by default: then the planner adds no operator to a changelog, whatever
     * its keys. A sink that takes upserts must be declared as one, since the planner asks before it
     * knows what it has, and would demand ON CONFLICT for every other query.
     */
    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
        if (config.shape.appends()) {
            return ChangelogMode.insertOnly();
        }
        return upserts ? ChangelogMode.upsert(true) : ChangelogMode.all();
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
        return SinkV2Provider.of(new LastwordSink(config), parallelism);
    }

    @Override
    public DynamicTableSink copy() {
        return new LastwordTableSink(config, upserts, parallelism);
    }

    @Override
    public String asSummaryString() {
        return "Lastword table " + config.uri;
    }
}
