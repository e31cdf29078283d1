//! Schema changes as commits of our own: Lance's calls for them carry no properties.

use std::sync::Arc;

use arrow::compute::{CastOptions, cast_with_options};
use arrow_array::RecordBatch;
use arrow_schema::{Field as ArrowField, Schema as ArrowSchema};
use futures::stream::StreamExt;
use lance::Dataset;
use lance::dataset::fragment::FileFragment;
use lance::dataset::transaction::Operation;
use lance_core::datatypes::{Field, Schema};
use lance_table::format::Fragment;

use crate::dataset::{Committed, Handle, Properties};
use crate::error::{Failure, Outcome};

/// In a data file's list of fields: the column lies in a later file.
const SUPERSEDED_FIELD: i32 = -2;
const REWRITE_BATCH_ROWS: u32 = 8192;

impl Handle {
    /// Appends nullable columns; no data file is touched, readers see NULL.
    pub async fn add_columns(
        &mut self,
        columns: &ArrowSchema,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        for column in columns.fields() {
            if !column.is_nullable() {
                return Err(Failure::invalid(format!(
                    "column {} is not nullable",
                    column.name()
                )));
            }
            if self.dataset.schema().field(column.name()).is_some() {
                return Err(Failure::invalid(format!("column {} exists", column.name())));
            }
        }
        let mut schema = self.dataset.schema().merge(columns)?;
        schema.try_set_field_id(Some(self.dataset.manifest.max_field_id()))?;
        let operation = Operation::Merge {
            fragments: self.dataset.manifest.fragments.as_ref().clone(),
            schema,
            preserves_nullability: true,
        };
        self.publish(operation, "", properties).await
    }

    /// Rewrites the column that `column` names as its type, which must hold every value of the old
    /// one. Addresses stay, and deleted rows keep their values.
    pub async fn widen_column(
        &mut self,
        column: &ArrowField,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        let name = column.name();
        let (schema, old_field) = self.widened_schema(column)?;
        // Lance resolves what it writes against the schema of the dataset that it writes for.
        let mut manifest = self.dataset.manifest.as_ref().clone();
        manifest.schema = schema.clone();
        let mut widened = self.dataset.as_ref().clone();
        widened.manifest = Arc::new(manifest);
        let widened = Arc::new(widened);

        let mut fragments = Vec::with_capacity(self.dataset.manifest.fragments.len());
        for fragment in self.dataset.manifest.fragments.iter() {
            let rewritten =
                rewrite_column(&self.dataset, &widened, fragment, name, &old_field).await?;
            fragments.push(rewritten);
        }
        let operation = Operation::Merge {
            fragments,
            preserves_nullability: schema.field(name).is_some_and(|field| field.nullable),
            schema,
        };
        self.publish(operation, "", properties).await
    }

    /// The schema with the column under a new field id, and its old field.
    fn widened_schema(&self, column: &ArrowField) -> Outcome<(Schema, Field)> {
        let name = column.name();
        let mut schema = self.dataset.schema().clone();
        let Some(at) = schema.fields.iter().position(|field| &field.name == name) else {
            return Err(Failure::invalid(format!("there is no column {name}")));
        };
        let old_field = schema.fields[at].clone();
        let mut kept = old_field.metadata.clone();
        kept.extend(column.metadata().clone());
        // From Arrow, so that key marks and the encoding follow the metadata and the type.
        let arrow_field = ArrowField::new(name, column.data_type().clone(), old_field.nullable)
            .with_metadata(kept);
        let mut field = Field::try_from(&arrow_field)?;
        let mut next_id = i64::from(self.dataset.manifest.max_field_id()) + 1;
        field.try_set_id(old_field.parent_id, &mut next_id)?;
        schema.fields[at] = field;
        schema.validate()?;
        schema.verify_primary_key()?;
        Ok((schema, old_field))
    }
}

/// Writes the column of one fragment anew, beside its other files.
async fn rewrite_column(
    dataset: &Arc<Dataset>,
    widened: &Arc<Dataset>,
    fragment: &Fragment,
    name: &str,
    old_field: &Field,
) -> Outcome<Fragment> {
    let source = FileFragment::new(dataset.clone(), fragment.clone());
    let old_schema = dataset.schema().project(&[name])?;
    let new_schema = widened.schema().project(&[name])?;
    let output = Arc::new(ArrowSchema::from(&new_schema));
    let rows = fragment.physical_rows.unwrap_or_default() as u64;
    // Physical rows: the new file has to line up with the fragment's other files, deleted rows
    // included.
    let batches = source
        .read_physical_slice(0..rows, &old_schema, REWRITE_BATCH_ROWS)
        .await?;
    let cast = batches.then(move |batch| {
        let output = output.clone();
        async move {
            let batch = batch.await?;
            let options = CastOptions {
                safe: false, // A value that does not fit is an error, not NULL.
                ..CastOptions::default()
            };
            let column = cast_with_options(batch.column(0), output.field(0).data_type(), &options)?;
            Ok(RecordBatch::try_new(output, vec![column])?)
        }
    });
    let target = FileFragment::new(widened.clone(), fragment.clone());
    let written = target.write_columns(cast, &new_schema).await?;

    let superseded = field_ids(old_field);
    let mut rewritten = fragment.clone();
    for file in &mut rewritten.files {
        if file.fields.iter().any(|id| superseded.contains(id)) {
            file.fields = file
                .fields
                .iter()
                .map(|id| {
                    if superseded.contains(id) {
                        SUPERSEDED_FIELD
                    } else {
                        *id
                    }
                })
                .collect();
        }
    }
    rewritten
        .files
        .retain(|file| file.fields.iter().any(|id| *id != SUPERSEDED_FIELD));
    rewritten.files.push(written.1);
    Ok(rewritten)
}

fn field_ids(field: &Field) -> Vec<i32> {
    let mut ids = vec![field.id];
    for child in &field.children {
        ids.extend(field_ids(child));
    }
    ids
}
