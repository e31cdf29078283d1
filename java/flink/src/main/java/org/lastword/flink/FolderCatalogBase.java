package org.lastword.flink;

import org.apache.flink.table.catalog.AbstractCatalog;
import org.apache.flink.table.catalog.CatalogBaseTable;
import org.apache.flink.table.catalog.CatalogDatabase;
import org.apache.flink.table.catalog.CatalogFunction;
import org.apache.flink.table.catalog.CatalogPartition;
import org.apache.flink.table.catalog.CatalogPartitionSpec;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.exceptions.CatalogException;
import org.apache.flink.table.catalog.exceptions.FunctionNotExistException;
import org.apache.flink.table.catalog.exceptions.PartitionNotExistException;
import org.apache.flink.table.catalog.exceptions.TableNotPartitionedException;
import org.apache.flink.table.catalog.stats.CatalogColumnStatistics;
import org.apache.flink.table.catalog.stats.CatalogTableStatistics;
import org.apache.flink.table.expressions.Expression;

import java.util.List;

/** What a catalog of Flink may offer and a folder of tables does not: each call says so. */
abstract class FolderCatalogBase extends AbstractCatalog {
    FolderCatalogBase(String name, String defaultDatabase) {
        super(name, defaultDatabase);
    }

    private static UnsupportedOperationException no(String what) {
        return new UnsupportedOperationException("a Lastword catalog does not " + what);
    }

    @Override
    public void open() throws CatalogException {}

    @Override
    public void close() throws CatalogException {}

    @Override
    public void createDatabase(String name, CatalogDatabase database, boolean ignoreIfExists) {
        throw no("create databases: it is one folder with one database");
    }

    @Override
    public void dropDatabase(String name, boolean ignoreIfNotExists, boolean cascade) {
        throw no("drop databases");
    }

    @Override
    public void alterDatabase(String name, CatalogDatabase database, boolean ignoreIfNotExists) {
        throw no("alter databases");
    }

    @Override
    public List<String> listViews(String database) {
        return List.of();
    }

    @Override
    public void renameTable(ObjectPath path, String name, boolean ignoreIfNotExists) {
        throw no("rename tables");
    }

    @Override
    public void alterTable(ObjectPath path, CatalogBaseTable table, boolean ignoreIfNotExists) {
        throw no("alter tables: declare the new column and set 'schema-evolution' = 'evolve'");
    }

    @Override
    public List<CatalogPartitionSpec> listPartitions(ObjectPath path)
            throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), path);
    }

    @Override
    public List<CatalogPartitionSpec> listPartitions(ObjectPath path, CatalogPartitionSpec spec)
            throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), path);
    }

    @Override
    public List<CatalogPartitionSpec> listPartitionsByFilter(ObjectPath path,
            List<Expression> filters) throws TableNotPartitionedException {
        throw new TableNotPartitionedException(getName(), path);
    }

    @Override
    public CatalogPartition getPartition(ObjectPath path, CatalogPartitionSpec spec)
            throws PartitionNotExistException {
        throw new PartitionNotExistException(getName(), path, spec);
    }

    @Override
    public boolean partitionExists(ObjectPath path, CatalogPartitionSpec spec) {
        return false;
    }

    @Override
    public void createPartition(ObjectPath path, CatalogPartitionSpec spec,
            CatalogPartition partition, boolean ignoreIfExists) {
        throw no("have partitions");
    }

    @Override
    public void dropPartition(ObjectPath path, CatalogPartitionSpec spec,
            boolean ignoreIfNotExists) {
        throw no("have partitions");
    }

    @Override
    public void alterPartition(ObjectPath path, CatalogPartitionSpec spec,
            CatalogPartition partition, boolean ignoreIfNotExists) {
        throw no("have partitions");
    }

    @Override
    public List<String> listFunctions(String database) {
        return List.of();
    }

    @Override
    public CatalogFunction getFunction(ObjectPath path) throws FunctionNotExistException {
        throw new FunctionNotExistException(getName(), path);
    }

    @Override
    public boolean functionExists(ObjectPath path) {
        return false;
    }

    @Override
    public void createFunction(ObjectPath path, CatalogFunction function, boolean ignoreIfExists) {
        throw no("keep functions");
    }

    @Override
    public void alterFunction(ObjectPath path, CatalogFunction function,
            boolean ignoreIfNotExists) {
        throw no("keep functions");
    }

    @Override
    public void dropFunction(ObjectPath path, boolean ignoreIfNotExists) {
        throw no("keep functions");
    }

    @Override
    public CatalogColumnStatistics getTableColumnStatistics(ObjectPath path) {
        return CatalogColumnStatistics.UNKNOWN;
    }

    @Override
    public CatalogTableStatistics getPartitionStatistics(ObjectPath path,
            CatalogPartitionSpec spec) {
        return CatalogTableStatistics.UNKNOWN;
    }

    @Override
    public CatalogColumnStatistics getPartitionColumnStatistics(ObjectPath path,
            CatalogPartitionSpec spec) {
        return CatalogColumnStatistics.UNKNOWN;
    }

    @Override
    public void alterTableStatistics(ObjectPath path, CatalogTableStatistics statistics,
            boolean ignoreIfNotExists) {
        throw no("keep statistics");
    }

    @Override
    public void alterTableColumnStatistics(ObjectPath path, CatalogColumnStatistics statistics,
            boolean ignoreIfNotExists) {
        throw no("keep statistics");
    }

    @Override
    public void alterPartitionStatistics(ObjectPath path, CatalogPartitionSpec spec,
            CatalogTableStatistics statistics, boolean ignoreIfNotExists) {
        throw no("keep statistics");
    }

    @Override
    public void alterPartitionColumnStatistics(ObjectPath path, CatalogPartitionSpec spec,
            CatalogColumnStatistics statistics, boolean ignoreIfNotExists) {
        throw no("keep statistics");
    }
}
