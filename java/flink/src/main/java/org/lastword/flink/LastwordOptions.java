package org.lastword.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** What a table may be declared WITH; docs/flink.md explains each. */
public final class LastwordOptions {
    public static final ConfigOption<String> URI = ConfigOptions.key("uri").stringType()
            .noDefaultValue().withDescription("The table: a folder that ends in .lance.");
    public static final ConfigOption<List<String>> SEQUENCE_COLUMNS =
            ConfigOptions.key("sequence.columns").stringType().asList().noDefaultValue()
                    .withDescription("Columns that order the changes of a key, most significant "
                            + "first; without them the order of arrival does.");
    public static final ConfigOption<String> SEQUENCE_OF_DELETES =
            ConfigOptions.key("sequence.deletes").stringType().defaultValue("own")
                    .withDescription("own: -D and -U carry a sequence of their own. row: they "
                            + "carry the sequence of the row that they remove.");
    public static final ConfigOption<String> CHANGELOG_MODE =
            ConfigOptions.key("changelog-mode").stringType().defaultValue("all")
                    .withDescription("all: +I -U +U -D. upsert: +I +U -D, for upsert sources: the "
                            + "planner then keeps no state to complete them.");
    public static final ConfigOption<String> LONE_UPDATE_BEFORE =
            ConfigOptions.key("lone-update-before").stringType().defaultValue("delete")
                    .withDescription("What a -U without its +U means: delete, drop or fail.");
    public static final ConfigOption<String> ON_CONFLICT =
            ConfigOptions.key("on-conflict").stringType().defaultValue("fail")
                    .withDescription("Two contents of one version: fail or quarantine.");
    public static final ConfigOption<String> SCHEMA_EVOLUTION =
            ConfigOptions.key("schema-evolution").stringType().defaultValue("exception")
                    .withDescription("Declared columns that the table lacks: exception or evolve.");
    public static final ConfigOption<String> DURABILITY =
            ConfigOptions.key("durability").stringType().defaultValue("fsync")
                    .withDescription("fsync, or process: a power loss may lose commits.");
    public static final ConfigOption<String> STORAGE_VERSION =
            ConfigOptions.key("storage-version").stringType().noDefaultValue()
                    .withDescription("Lance file format of a new table.");
    public static final ConfigOption<MemorySize> MEMORY =
            ConfigOptions.key("memory").memoryType().noDefaultValue()
                    .withDescription("Native memory of the committer.");
    public static final ConfigOption<Boolean> COMPACTION =
            ConfigOptions.key("compaction").booleanType().defaultValue(true)
                    .withDescription("Whether the committer compacts the table.");
    public static final ConfigOption<Integer> COMPACTION_FRAGMENTS =
            ConfigOptions.key("compaction.fragments").intType().noDefaultValue()
                    .withDescription("So many fragments of like size become one.");
    public static final ConfigOption<Long> KEEP_VERSIONS =
            ConfigOptions.key("keep.versions").longType().noDefaultValue()
                    .withDescription("Newest versions that clean-up leaves; 0 is no clean-up.");
    public static final ConfigOption<Duration> KEEP_FOR =
            ConfigOptions.key("keep.for").durationType().noDefaultValue()
                    .withDescription("Younger versions stay too, as far as keep.ratio allows.");
    public static final ConfigOption<Long> KEEP_RATIO =
            ConfigOptions.key("keep.ratio").longType().noDefaultValue()
                    .withDescription("Old versions hold at most so many times the live data.");
    public static final ConfigOption<String> APPEND_ID_COLUMN =
            ConfigOptions.key("append.id-column").stringType().defaultValue("lastword_row")
                    .withDescription("Identity column of a table without a primary key.");
    public static final ConfigOption<Map<String, String>> COLUMN_TYPES =
            ConfigOptions.key("column.types").mapType().defaultValue(Map.of())
                    .withDescription("Stored types other than the natural ones, by column.");
    public static final ConfigOption<MemorySize> BATCH_MAX_SIZE =
            ConfigOptions.key("batch.max-size").memoryType()
                    .defaultValue(MemorySize.ofMebiBytes(128))
                    .withDescription("A writer seals earlier than at the checkpoint from here on.");
    public static final ConfigOption<Duration> LOCK_WAIT =
            ConfigOptions.key("lock.wait").durationType().defaultValue(Duration.ofSeconds(30))
                    .withDescription("How long the committer waits for another writer to end.");
    public static final ConfigOption<Long> SCAN_VERSION =
            ConfigOptions.key("scan.version").longType().defaultValue(0L)
                    .withDescription("Lance version to read; 0 is the latest.");

    private LastwordOptions() {}
}
