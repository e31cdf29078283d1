//! Indices as commits of our own, with the caller's properties.

use std::collections::HashSet;

use lance::dataset::transaction::Operation;
use lance::index::DatasetIndexExt;
use lance::index::vector::VectorIndexParams;
use lance_index::scalar::ScalarIndexParams;
use lance_index::{IndexParams, IndexType, is_system_index};
use lance_linalg::distance::MetricType;

use crate::dataset::{Committed, Handle, Properties};
use crate::error::{Failure, Outcome};

/// Rows that one partition of a vector index is made for.
const PARTITION_ROWS: u64 = 4096;
const KMEANS_ITERATIONS: usize = 50;

/// An index as the caller sees it.
pub struct IndexInfo {
    pub name: String,
    pub column: String,
}

impl Handle {
    /// Trains an index over all rows of the open version, in the place of one of the same column.
    pub async fn create_index(
        &mut self,
        column: &str,
        kind: &str,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        let (index_type, params) = self.index_params(column, kind)?;
        let name = format!("{column}_idx");
        // The builder wants to commit to what it indexes; only its uncommitted result is used.
        let mut dataset = self.dataset.as_ref().clone();
        let removed_indices = dataset.load_indices_by_name(&name).await?;
        let new_index = dataset
            .create_index_builder(&[column], index_type, params.as_ref())
            .name(name)
            .replace(true)
            .execute_uncommitted()
            .await?;
        let operation = Operation::CreateIndex {
            new_indices: vec![new_index],
            removed_indices,
        };
        self.publish(operation, "", properties).await
    }

    fn index_params(&self, column: &str, kind: &str) -> Outcome<(IndexType, Box<dyn IndexParams>)> {
        match kind {
            "btree" => Ok((IndexType::BTree, Box::new(ScalarIndexParams::default()))),
            "ivf_pq" => {
                let schema = arrow_schema::Schema::from(self.dataset.schema());
                let dimension = match schema.field_with_name(column)?.data_type() {
                    arrow_schema::DataType::FixedSizeList(_, size) => *size as usize,
                    other => {
                        return Err(Failure::invalid(format!(
                            "column {column} is no vector but {other}"
                        )));
                    }
                };
                let fragments = &self.dataset.manifest.fragments;
                let rows: u64 = fragments
                    .iter()
                    .map(|fragment| fragment.num_rows().unwrap_or_default() as u64)
                    .sum();
                let partitions = usize::try_from(rows / PARTITION_ROWS)
                    .unwrap_or(usize::MAX)
                    .max(1);
                let sub_vectors = [16, 8, 4, 2, 1]
                    .iter()
                    .find(|size| dimension % **size == 0)
                    .map_or(1, |size| dimension / size);
                let params = VectorIndexParams::ivf_pq(
                    partitions,
                    8,
                    sub_vectors,
                    MetricType::L2,
                    KMEANS_ITERATIONS,
                );
                Ok((IndexType::Vector, Box::new(params)))
            }
            other => Err(Failure::invalid(format!("{other} is no type of index"))),
        }
    }

    /// Indices of the open version; those that Lance keeps for itself are left out.
    pub async fn indices(&self) -> Outcome<Vec<IndexInfo>> {
        if self.dataset.manifest.index_section.is_none() {
            return Ok(Vec::new());
        }
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for index in self.dataset.load_indices().await?.iter() {
            // Segments of one index share its name.
            if is_system_index(index) || !seen.insert(index.name.clone()) {
                continue;
            }
            let field = index.fields.first();
            let column = field.and_then(|id| self.dataset.schema().field_by_id(*id));
            found.push(IndexInfo {
                name: index.name.clone(),
                column: column.map(|field| field.name.clone()).unwrap_or_default(),
            });
        }
        Ok(found)
    }
}
