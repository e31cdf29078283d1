//! Reading: live rows in address order, and single rows by address.

use std::sync::Arc;

use arrow::compute::interleave_record_batch;
use arrow_array::RecordBatch;
use arrow_schema::{Schema as ArrowSchema, SchemaRef};
use futures::stream::StreamExt;
use lance::dataset::scanner::DatasetRecordBatchStream;
use lance::dataset::{ProjectionRequest, TakeBuilder};
use lance_io::stream::RecordBatchStream;

use crate::dataset::Handle;
use crate::error::{Class, Failure, Outcome};
use crate::runtime;

/// Rows that one `take` of Lance reads at a time, so that text of a piece stays below 32-bit
/// offsets.
const TAKE_ROWS: usize = 32 * 1024;
/// Lance's own default is 2 GiB a scan.
const SCAN_BUFFER_BYTES: u64 = 64 << 20;

/// A running scan. Holds its version of the dataset alive, so later commits do not disturb it.
pub struct Scan {
    // None only while it is being dropped.
    stream: Option<DatasetRecordBatchStream>,
    schema: SchemaRef,
}

impl Scan {
    pub async fn next(&mut self) -> Outcome<Option<RecordBatch>> {
        match &mut self.stream {
            Some(stream) => Ok(stream.next().await.transpose()?),
            None => Ok(None),
        }
    }

    pub fn schema(&self) -> &ArrowSchema {
        &self.schema
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        // Readers abort tasks when they go, which needs the runtime around them.
        let _entered = runtime::handle().enter();
        self.stream = None;
    }
}

impl Handle {
    /// Scans `columns` with `_rowaddr` as the last column; of all fragments where `only` is empty.
    /// `in_order`: by address; else the pieces come as they are ready.
    pub async fn scan(
        &self,
        columns: &[String],
        only: &[u64],
        batch_rows: usize,
        in_order: bool,
    ) -> Outcome<Scan> {
        let mut scanner = self.dataset.scan();
        scanner.project(columns)?;
        scanner.with_row_address();
        scanner.scan_in_order(in_order);
        scanner.use_scalar_index(false);
        scanner.batch_size(batch_rows);
        scanner.io_buffer_size(SCAN_BUFFER_BYTES);
        scanner.batch_readahead(2);
        // A rewrite puts its fragments where the old ones stood, so the manifest is not in address
        // order.
        let fragments = &self.dataset.manifest.fragments;
        if !only.is_empty() || !fragments.is_sorted_by_key(|fragment| fragment.id) {
            let mut sorted = fragments.as_ref().clone();
            if !only.is_empty() {
                sorted.retain(|fragment| only.contains(&fragment.id));
            }
            if sorted.len() < only.len() {
                return Err(Failure::invalid("a fragment to scan is not there"));
            }
            sorted.sort_by_key(|fragment| fragment.id);
            scanner.with_fragments(sorted);
        }
        let stream = scanner.try_into_stream().await?;
        let schema = stream.schema();
        Ok(Scan {
            stream: Some(stream),
            schema,
        })
    }

    /// Reads the rows at `addresses`, in that order; deleted rows of kept fragments as well.
    pub async fn take(&self, addresses: &[u64], columns: &[String]) -> Outcome<Vec<RecordBatch>> {
        let mut sorted = addresses.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        self.check_addresses(&sorted)?;
        let is_in_order = sorted.len() == addresses.len() && addresses.is_sorted();
        let schema = self.dataset.schema().project(columns)?;
        let plan =
            ProjectionRequest::from_schema(schema).into_projection_plan(self.dataset.clone())?;
        let plan = Arc::new(plan);
        let mut pieces = Vec::with_capacity(sorted.len().div_ceil(TAKE_ROWS).max(1));
        for piece in sorted.chunks(TAKE_ROWS) {
            let taken = TakeBuilder::try_new_from_addresses(
                self.dataset.clone(),
                piece.to_vec(),
                plan.clone(),
            )?
            .with_ignore_deletions(true)
            .execute()
            .await?;
            // Lance leaves out what it does not find instead of saying so.
            if taken.num_rows() != piece.len() {
                return Err(Failure::new(
                    Class::Internal,
                    format!("{} of {} rows found", taken.num_rows(), piece.len()),
                ));
            }
            pieces.push(taken);
        }
        if is_in_order {
            return Ok(pieces);
        }
        reorder(&sorted, &pieces, addresses)
    }

    fn check_addresses(&self, sorted: &[u64]) -> Outcome<()> {
        let mut known: Option<(u64, u64)> = None;
        for address in sorted {
            let (id, offset) = (address >> 32, address & 0xffff_ffff);
            let rows = match known {
                Some((fragment, rows)) if fragment == id => rows,
                _ => {
                    let fragment = usize::try_from(id)
                        .ok()
                        .and_then(|id| self.dataset.get_fragment(id))
                        .ok_or_else(|| Failure::invalid(format!("there is no fragment {id}")))?;
                    fragment.metadata().physical_rows.unwrap_or_default() as u64
                }
            };
            known = Some((id, rows));
            if offset >= rows {
                return Err(Failure::invalid(format!(
                    "fragment {id} has {rows} rows, not a row {offset}"
                )));
            }
        }
        Ok(())
    }
}

/// Puts rows that were read in ascending order into the order asked for, again in pieces.
fn reorder(sorted: &[u64], pieces: &[RecordBatch], asked: &[u64]) -> Outcome<Vec<RecordBatch>> {
    let pieces: Vec<&RecordBatch> = pieces.iter().collect();
    asked
        .chunks(TAKE_ROWS)
        .map(|part| {
            let places: Vec<(usize, usize)> = part
                .iter()
                .map(|address| sorted.binary_search(address).unwrap_or_default())
                .map(|at| (at / TAKE_ROWS, at % TAKE_ROWS))
                .collect();
            Ok(interleave_record_batch(&pieces, &places)?)
        })
        .collect()
}
