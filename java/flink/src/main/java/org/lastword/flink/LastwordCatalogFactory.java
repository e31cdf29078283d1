package org.lastword.flink;

import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.factories.CatalogFactory;
import org.apache.flink.table.factories.FactoryUtil;

import java.util.Set;

/** `CREATE CATALOG lake WITH ('type' = 'lastword', 'warehouse' = '/data/lake')`. */
public final class LastwordCatalogFactory implements CatalogFactory {
    static final ConfigOption<String> WAREHOUSE = ConfigOptions.key("warehouse").stringType()
            .noDefaultValue().withDescription("The folder that holds the tables.");

    @Override
    public String factoryIdentifier() {
        return LastwordTableFactory.IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(WAREHOUSE);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public Catalog createCatalog(Context context) {
        FactoryUtil.CatalogFactoryHelper helper =
                FactoryUtil.createCatalogFactoryHelper(this, context);
        helper.validate();
        return new LastwordCatalog(context.getName(), helper.getOptions().get(WAREHOUSE));
    }
}
