//! Indices as commits of our own, with the caller's properties.

use lance::dataset::transaction::Operation;
use lance::index::DatasetIndexExt;
use lance::index::optimize::plan_optimize_indices;
use lance::index::vector::VectorIndexParams;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::ScalarIndexParams;
use lance_index::{IndexParams, IndexType, is_system_index};
use lance_linalg::distance::MetricType;
use lance_table::format::{Fragment, IndexMetadata};

use crate::dataset::{Committed, Handle, Properties};
use crate::error::{Failure, Outcome};

/// Rows that one partition of a vector index is made for.
const PARTITION_ROWS: u64 = 4096;
const KMEANS_ITERATIONS: usize = 50;

/// An index as the caller sees it.
pub struct IndexInfo {
    pub name: String,
    pub column: String,
    /// Live rows in fragments that it does not cover.
    pub unindexed_rows: u64,
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

    /// Takes the rows that the index `name` does not cover into it; its parts become one.
    pub async fn extend_index(
        &mut self,
        name: &str,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        let dataset = self.dataset.as_ref().clone();
        let parts = dataset.load_indices_by_name(name).await?;
        let mut options = OptimizeOptions::default();
        options.index_names = Some(vec![name.to_string()]);
        options.num_indices_to_merge = Some(parts.len());
        // Planned and built as Lance's own call does, which would commit without properties.
        let plan = plan_optimize_indices(&dataset, &options).await?;
        let mut built = Vec::new();
        for task in &plan.tasks {
            built.extend(task.execute(&dataset).await?);
        }
        let mut merged = Vec::new();
        for merge in &plan.merges {
            merged.extend(merge.execute(&dataset, &built).await?);
        }
        let is_replaced = |part: &IndexMetadata| {
            merged
                .iter()
                .any(|result| result.replaces.contains(&part.uuid))
        };
        let removed_indices = parts.into_iter().filter(is_replaced).collect();
        let operation = Operation::CreateIndex {
            new_indices: merged.iter().map(|result| result.segment.clone()).collect(),
            removed_indices,
        };
        self.publish(operation, "", properties).await
    }

    /// One number a fragment of the open version: equal where the same parts of indices cover them,
    /// 0 where none does.
    pub async fn index_sets(&self) -> Outcome<Vec<u64>> {
        let fragments = &self.dataset.manifest.fragments;
        let mut sets = vec![0; fragments.len()];
        if self.dataset.manifest.index_section.is_none() {
            return Ok(sets);
        }
        let indices = self.dataset.load_indices().await?;
        let parts = indices.iter().filter(|index| !is_system_index(index));
        for (number, part) in parts.enumerate() {
            for (set, fragment) in sets.iter_mut().zip(fragments.iter()) {
                if covers(part, fragment) {
                    // Mixed, so that the order of parts counts and sets of any size differ.
                    let mixed = (*set ^ (number as u64 + 1)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    *set = mixed ^ (mixed >> 29);
                }
            }
        }
        Ok(sets)
    }

    /// Indices of the open version; those that Lance keeps for itself are left out.
    pub async fn indices(&self) -> Outcome<Vec<IndexInfo>> {
        if self.dataset.manifest.index_section.is_none() {
            return Ok(Vec::new());
        }
        let mut found: Vec<IndexInfo> = Vec::new();
        let indices = self.dataset.load_indices().await?;
        for index in indices.iter() {
            // Parts of one index share its name.
            if is_system_index(index) || found.iter().any(|other| other.name == index.name) {
                continue;
            }
            let parts: Vec<&IndexMetadata> = indices
                .iter()
                .filter(|part| part.name == index.name)
                .collect();
            let unindexed = self.dataset.manifest.fragments.iter();
            let unindexed = unindexed
                .filter(|fragment| !parts.iter().any(|part| covers(part, fragment)))
                .map(|fragment| fragment.num_rows().unwrap_or_default() as u64);
            let field = index.fields.first();
            let column = field.and_then(|id| self.dataset.schema().field_by_id(*id));
            found.push(IndexInfo {
                name: index.name.clone(),
                column: column.map(|field| field.name.clone()).unwrap_or_default(),
                unindexed_rows: unindexed.sum(),
            });
        }
        Ok(found)
    }
}

/// A part without a list of fragments is an old one that covers all.
fn covers(part: &IndexMetadata, fragment: &Fragment) -> bool {
    let Ok(id) = u32::try_from(fragment.id) else {
        return false;
    };
    let bitmap = part.fragment_bitmap.as_ref();
    bitmap.is_none_or(|bitmap| bitmap.contains(id))
}
