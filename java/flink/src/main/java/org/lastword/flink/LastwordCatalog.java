package org.lastword.flink;

import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.catalog.CatalogBaseTable;
import org.apache.flink.table.catalog.CatalogDatabase;
import org.apache.flink.table.catalog.CatalogDatabaseImpl;
import org.apache.flink.table.catalog.CatalogTable;
import org.apache.flink.table.catalog.ObjectPath;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.exceptions.CatalogException;
import org.apache.flink.table.catalog.exceptions.DatabaseNotExistException;
import org.apache.flink.table.catalog.exceptions.TableAlreadyExistException;
import org.apache.flink.table.catalog.exceptions.TableNotExistException;
import org.apache.flink.table.catalog.stats.CatalogTableStatistics;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The tables of one folder, which are its NAME.lance: whoever wrote them. Columns and key come from
 * the table itself; the options that a table was created with lie beside it:
 *
 * <pre>NAME.lance.lastword/flink.json := {"format": 1, "options": {NAME: VALUE}}</pre>
 */
public final class LastwordCatalog extends FolderCatalogBase {
    private static final String DATABASE = "default";
    private static final String SUFFIX = ".lance";
    private static final String COMPANION = ".lastword";
    private static final String OPTIONS_FILE = "flink.json";
    private static final int OPTIONS_FORMAT = 1;

    private final Path warehouse;

    LastwordCatalog(String name, String warehouse) {
        super(name, DATABASE);
        this.warehouse = Path.of(warehouse);
    }

    @Override
    public List<String> listDatabases() {
        return List.of(DATABASE);
    }

    @Override
    public CatalogDatabase getDatabase(String name) throws DatabaseNotExistException {
        if (!databaseExists(name)) {
            throw new DatabaseNotExistException(getName(), name);
        }
        return new CatalogDatabaseImpl(Map.of(), "tables of " + warehouse);
    }

    @Override
    public boolean databaseExists(String name) {
        return name.equals(DATABASE);
    }

    @Override
    public List<String> listTables(String database) throws DatabaseNotExistException {
        if (!databaseExists(database)) {
            throw new DatabaseNotExistException(getName(), database);
        }
        if (!Files.isDirectory(warehouse)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(warehouse)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(SUFFIX))
                    .map(name -> name.substring(0, name.length() - SUFFIX.length()))
                    .sorted().toList();
        } catch (IOException e) {
            throw new CatalogException("cannot list " + warehouse, e);
        }
    }

    private Path pathOf(ObjectPath path) {
        return warehouse.resolve(path.getObjectName() + SUFFIX);
    }

    private Path optionsOf(Path table) {
        return table.resolveSibling(table.getFileName() + COMPANION).resolve(OPTIONS_FILE);
    }

    @Override
    public boolean tableExists(ObjectPath path) {
        return databaseExists(path.getDatabaseName()) && Files.isDirectory(pathOf(path));
    }

    private JsonNode describe(ObjectPath path) throws TableNotExistException {
        if (!tableExists(path)) {
            throw new TableNotExistException(getName(), path);
        }
        try {
            byte[] uri = pathOf(path).toString().getBytes(StandardCharsets.UTF_8);
            JsonNode table = TableShape.json().readTree(Native.describe(uri, 0));
            if (!table.get("exists").asBoolean()) {
                throw new TableNotExistException(getName(), path);
            }
            return table;
        } catch (IOException e) {
            throw new CatalogException("cannot read " + pathOf(path) + ": " + e.getMessage(), e);
        }
    }

    @Override
    public CatalogBaseTable getTable(ObjectPath path) throws TableNotExistException {
        JsonNode table = describe(path);
        Map<String, String> options = readOptions(pathOf(path));
        String appendKey = options.getOrDefault(LastwordOptions.APPEND_ID_COLUMN.key(),
                LastwordOptions.APPEND_ID_COLUMN.defaultValue());
        List<String> key = new ArrayList<>();
        table.get("key").forEach(name -> key.add(name.asText()));
        boolean appends = key.equals(List.of(appendKey));
        Schema.Builder schema = Schema.newBuilder();
        for (JsonNode column : table.get("columns")) {
            String name = column.get("name").asText();
            if (appends && name.equals(appendKey)) {
                continue;
            }
            String stored = column.get("type").asText();
            DataType shown = ColumnTypes.shown(stored);
            boolean nullable = column.get("nullable").asBoolean() && !key.contains(name);
            schema.column(name, nullable ? shown.nullable() : shown.notNull());
            if (!ColumnTypes.stored(name, shown.getLogicalType(), null).equals(stored)) {
                options.put(LastwordOptions.COLUMN_TYPES.key() + "." + name, stored);
            }
        }
        if (!appends) {
            schema.primaryKey(key);
        }
        options.put("connector", LastwordTableFactory.IDENTIFIER);
        options.put(LastwordOptions.URI.key(), pathOf(path).toString());
        return CatalogTable.newBuilder().schema(schema.build()).options(options).build();
    }

    private Map<String, String> readOptions(Path table) {
        Map<String, String> options = new HashMap<>();
        Path file = optionsOf(table);
        if (!Files.exists(file)) {
            return options;
        }
        try {
            JsonNode json = TableShape.json().readTree(Files.readString(file));
            if (json.path("format").asInt() != OPTIONS_FORMAT) {
                throw new CatalogException(file + " has another format than " + OPTIONS_FORMAT);
            }
            json.path("options").fields()
                    .forEachRemaining(o -> options.put(o.getKey(), o.getValue().asText()));
            return options;
        } catch (IOException e) {
            throw new CatalogException("cannot read " + file, e);
        }
    }

    @Override
    public void createTable(ObjectPath path, CatalogBaseTable declared, boolean ignoreIfExists)
            throws TableAlreadyExistException, DatabaseNotExistException {
        if (!databaseExists(path.getDatabaseName())) {
            throw new DatabaseNotExistException(getName(), path.getDatabaseName());
        }
        if (tableExists(path)) {
            if (ignoreIfExists) {
                return;
            }
            throw new TableAlreadyExistException(getName(), path);
        }
        if (!(declared instanceof ResolvedCatalogTable)) {
            throw new CatalogException("only tables can be created here");
        }
        ResolvedCatalogTable table = (ResolvedCatalogTable) declared;
        Map<String, String> options = new HashMap<>(table.getOptions());
        String connector = options.remove("connector");
        if (connector != null && !connector.equals(LastwordTableFactory.IDENTIFIER)) {
            throw new CatalogException("this catalog holds Lastword tables only");
        }
        if (options.containsKey(LastwordOptions.URI.key())) {
            throw new CatalogException("the catalog decides where a table lies: leave 'uri' out");
        }
        try {
            create(pathOf(path), table, options);
        } catch (IOException e) {
            throw new CatalogException("cannot create " + pathOf(path) + ": " + e.getMessage(), e);
        }
    }

    private void create(Path path, ResolvedCatalogTable table, Map<String, String> options)
            throws IOException {
        Map<String, String> types = new HashMap<>();
        String prefix = LastwordOptions.COLUMN_TYPES.key() + ".";
        options.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                types.put(name.substring(prefix.length()), value);
            }
        });
        RowType rowType = (RowType) table.getResolvedSchema().toPhysicalRowDataType()
                .getLogicalType();
        TableShape shape = TableShape.of(rowType, table.getResolvedSchema().getPrimaryKeyIndexes(),
                types, options.getOrDefault(LastwordOptions.APPEND_ID_COLUMN.key(),
                        LastwordOptions.APPEND_ID_COLUMN.defaultValue()));
        Files.createDirectories(warehouse);
        byte[] uri = path.toString().getBytes(StandardCharsets.UTF_8);
        long handle = Native.tableOpen(uri, TableShape.bytes(shape.toJson()));
        try {
            byte[] id = ("flink/create/" + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);
            Native.tableCommit(handle, id, new byte[0][], new int[0]);
        } finally {
            Native.tableClose(handle);
        }
        ObjectNode json = TableShape.json().createObjectNode();
        json.put("format", OPTIONS_FORMAT);
        ObjectNode kept = json.putObject("options");
        options.forEach(kept::put);
        Path file = optionsOf(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, json.toString());
    }

    @Override
    public void dropTable(ObjectPath path, boolean ignoreIfNotExists)
            throws TableNotExistException {
        if (!tableExists(path)) {
            if (ignoreIfNotExists) {
                return;
            }
            throw new TableNotExistException(getName(), path);
        }
        Path table = pathOf(path);
        try {
            // The visible table first: a ledger without it is not taken for a table.
            delete(table);
            delete(table.resolveSibling(table.getFileName() + COMPANION));
        } catch (IOException e) {
            throw new CatalogException("cannot drop " + table, e);
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = new ArrayList<>(all.toList());
        }
        Collections.reverse(files);
        for (Path file : files) {
            Files.delete(file);
        }
    }

    @Override
    public CatalogTableStatistics getTableStatistics(ObjectPath path)
            throws TableNotExistException {
        return new CatalogTableStatistics(describe(path).get("rows").asLong(), 0, 0, 0);
    }
}
