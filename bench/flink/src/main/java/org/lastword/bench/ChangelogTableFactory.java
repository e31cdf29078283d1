package org.lastword.bench;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

import java.util.Set;

/** `'connector' = 'bench-changelog'`: a changelog that the planner takes as it is. */
public final class ChangelogTableFactory implements DynamicTableSourceFactory {
    private static final ConfigOption<Long> EVENTS =
            ConfigOptions.key("events").longType().noDefaultValue();
    private static final ConfigOption<Long> KEYS =
            ConfigOptions.key("keys").longType().noDefaultValue();

    @Override
    public String factoryIdentifier() {
        return "bench-changelog";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(EVENTS, KEYS);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        var options = FactoryUtil.createTableFactoryHelper(this, context).getOptions();
        return new Table(new Changelog(options.get(EVENTS), options.get(KEYS)),
                (RowType) context.getPhysicalRowDataType().getLogicalType());
    }

    private record Table(Changelog changelog, RowType type) implements ScanTableSource {
        @Override
        public ChangelogMode getChangelogMode() {
            // Deletes are whole rows: no sink needs an operator that completes them.
            return ChangelogMode.all();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return new DataStreamScanProvider() {
                @Override
                public DataStream<RowData> produceDataStream(ProviderContext provider,
                        StreamExecutionEnvironment env) {
                    return env.addSource(new ChangelogSource(changelog), "changelog",
                            InternalTypeInfo.of(type));
                }

                @Override
                public boolean isBounded() {
                    return true;
                }
            };
        }

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "changelog";
        }
    }
}
