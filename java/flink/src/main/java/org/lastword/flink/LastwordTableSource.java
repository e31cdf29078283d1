package org.lastword.flink;

import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.types.DataType;

import java.util.Arrays;

/** Reads one version of a table, the latest by default, and ends. */
final class LastwordTableSource implements ScanTableSource, SupportsProjectionPushDown {
    private final String uri;
    private final long version;
    private TableShape shape;

    LastwordTableSource(String uri, long version, TableShape shape) {
        this.uri = uri;
        this.version = version;
        this.shape = shape;
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        return SourceProvider.of(new LastwordSource(uri, version, shape), 1);
    }

    @Override
    public boolean supportsNestedProjection() {
        return false;
    }

    @Override
    public void applyProjection(int[][] fields, DataType produced) {
        shape = shape.project(Arrays.stream(fields).mapToInt(path -> path[0]).toArray());
    }

    @Override
    public DynamicTableSource copy() {
        return new LastwordTableSource(uri, version, shape);
    }

    @Override
    public String asSummaryString() {
        return "Lastword table " + uri;
    }
}
