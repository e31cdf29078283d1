//! A commit of new rows and deleted addresses: one `Operation::Update`, built by hand.
//!
//! Cost is that of the batch and of the fragments it touches. Nothing is searched, joined or
//! scanned. Its files can be begun before it, beside the commit of another dataset.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::future::try_join;
use futures::stream::{StreamExt, TryStreamExt, iter};
use lance::Dataset;
use lance::dataset::fragment::FileFragment;
use lance::dataset::transaction::{Operation, UpdateMode};
use lance::dataset::{InsertBuilder, WriteMode, WriteParams};
use lance_core::utils::deletion::DeletionVector;
use lance_table::format::{DeletionFile, Fragment};
use lance_table::io::deletion::write_deletion_file;
use tokio::task::{JoinError, JoinHandle};

use crate::dataset::{Committed, DeletionCache, Handle, Properties};
use crate::durability;
use crate::error::{Class, Failure, Outcome};
use crate::runtime;

/// Fragments whose deletion vectors are read and written side by side.
const FRAGMENTS_AT_ONCE: usize = 16;
/// A fragment is rewritten as a whole, so its size bounds what a compaction holds. Lance's own
/// default is 90 GB.
const FILE_BYTES_MAX: usize = 256 << 20;

/// What is new in the files of a commit.
pub enum Files {
    /// To be written by the commit.
    Of {
        rows: Vec<RecordBatch>,
        deleted: Vec<u64>,
    },
    /// Begun before, upon the version that the commit expects.
    Begun(Write),
}

pub struct Request {
    pub expected_version: u64,
    pub files: Files,
    pub properties: Properties,
    pub transaction_id: String,
}

/// What deleting rows of one fragment leaves of it; none = nothing.
pub struct Touched {
    id: u64,
    rest: Option<(Fragment, Arc<DeletionVector>)>,
}

struct Written {
    new_fragments: Vec<Fragment>,
    touched: Vec<Touched>,
}

impl Written {
    fn updated(&self) -> Vec<Fragment> {
        let rests = self
            .touched
            .iter()
            .filter_map(|touched| touched.rest.as_ref());
        rests.map(|(fragment, _)| fragment.clone()).collect()
    }

    /// All that name new files.
    fn fragments(&self) -> Vec<Fragment> {
        [self.new_fragments.clone(), self.updated()].concat()
    }
}

/// Files on their way, on the runtime's threads: no version names them yet. Ended by a commit or by
/// `abandon`.
pub struct Write {
    base: Arc<Dataset>,
    task: JoinHandle<Outcome<Written>>,
}

impl Write {
    async fn finish(self) -> Outcome<Written> {
        self.task.await.unwrap_or_else(|error| Err(panicked(error)))
    }

    /// Waits, and removes what was written.
    pub async fn abandon(self) {
        let base = self.base.clone();
        if let Ok(written) = self.finish().await {
            discard(&base, &written.fragments()).await;
        }
    }
}

impl Handle {
    /// Begins to write and sync what a commit upon the open version will name.
    pub fn begin_write(&self, rows: Vec<RecordBatch>, deleted: Vec<u64>) -> Write {
        let base = self.dataset.clone();
        let (dataset, gate) = (base.clone(), self.gate.clone());
        let deletions = self.by_fragment(deleted);
        let task = runtime::handle().spawn(async move {
            let written = write_files(dataset.clone(), rows, deletions).await?;
            gate.sync_ahead(&dataset, &written.fragments()).await?;
            Ok(written)
        });
        Write { base, task }
    }

    pub async fn commit(&mut self, request: Request) -> Outcome<Committed> {
        let free = self.check_next_is_free(request.expected_version).await;
        let written = match (free, request.files) {
            (Ok(()), Files::Of { rows, deleted }) => {
                write_files(self.dataset.clone(), rows, self.by_fragment(deleted)).await?
            }
            (Ok(()), Files::Begun(write)) => write.finish().await?,
            (Err(failure), files) => {
                if let Files::Begun(write) = files {
                    write.abandon().await;
                }
                return Err(failure);
            }
        };
        let (updated, fragments) = (written.updated(), written.fragments());
        let Written {
            new_fragments,
            touched,
        } = written;
        let operation = Operation::Update {
            removed_fragment_ids: touched
                .iter()
                .filter(|touched| touched.rest.is_none())
                .map(|touched| touched.id)
                .collect(),
            updated_fragments: updated,
            new_fragments,
            fields_modified: Vec::new(),
            compacted_sstables: Vec::new(),
            // All fields: every index has to look at the new rows itself.
            fields_for_preserving_frag_bitmap: self
                .dataset
                .schema()
                .fields
                .iter()
                .filter_map(|field| u32::try_from(field.id).ok())
                .collect(),
            update_mode: Some(UpdateMode::RewriteRows),
            inserted_rows_filter: None,
            updated_fragment_offsets: None,
        };
        let base = self.dataset.clone();
        match self
            .publish(operation, &request.transaction_id, request.properties)
            .await
        {
            Ok(committed) => {
                self.deletions.learn(touched, self.cache_bytes);
                Ok(committed)
            }
            Err(failure) => {
                // Only where nothing can have become visible; otherwise the files may be in use.
                if matches!(failure.class, Class::Conflict | Class::DiskFull) {
                    discard(&base, &fragments).await;
                }
                Err(failure)
            }
        }
    }

    /// Deleted offsets of each fragment, with its vector where that is known.
    fn by_fragment(&self, deleted: Vec<u64>) -> Vec<Deletions> {
        let mut offsets: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for address in deleted {
            let of = offsets.entry(address >> 32).or_default();
            of.push(address as u32);
        }
        let all = offsets.into_iter().map(|(id, offsets)| Deletions {
            id,
            offsets,
            cached: self.deletions.vectors.get(&id).cloned(),
        });
        all.collect()
    }
}

fn panicked(error: JoinError) -> Failure {
    Failure::new(Class::Panic, error.to_string())
}

async fn write_files(
    dataset: Arc<Dataset>,
    rows: Vec<RecordBatch>,
    deletions: Vec<Deletions>,
) -> Outcome<Written> {
    let (new_fragments, touched) = try_join(
        write_rows(dataset.clone(), rows),
        delete_rows(dataset, deletions),
    )
    .await?;
    Ok(Written {
        new_fragments,
        touched,
    })
}

/// Writes data files for `rows`; their fragments have no id yet.
async fn write_rows(dataset: Arc<Dataset>, rows: Vec<RecordBatch>) -> Outcome<Vec<Fragment>> {
    if rows.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(Vec::new());
    }
    let params = WriteParams {
        mode: WriteMode::Append,
        max_bytes_per_file: FILE_BYTES_MAX,
        auto_cleanup: None,
        skip_auto_cleanup: true,
        session: Some(dataset.session()),
        ..WriteParams::default()
    };
    let transaction = InsertBuilder::new(dataset)
        .with_params(&params)
        .execute_uncommitted(rows)
        .await?;
    match transaction.operation {
        Operation::Append { fragments } => Ok(fragments),
        other => Err(Failure::new(
            Class::Internal,
            format!("writing rows gave a {} transaction", other.name()),
        )),
    }
}

/// What is deleted of one fragment.
struct Deletions {
    id: u64,
    offsets: Vec<u32>,
    cached: Option<(DeletionFile, Arc<DeletionVector>)>,
}

/// Writes the deletion vector of every fragment that `deletions` touch.
async fn delete_rows(dataset: Arc<Dataset>, deletions: Vec<Deletions>) -> Outcome<Vec<Touched>> {
    iter(deletions.into_iter().map(|of| {
        let dataset = dataset.clone();
        // Spawned: taking a large vector apart and putting it together is computing, not waiting.
        tokio::spawn(async move { delete_from(&dataset, of).await })
    }))
    .buffered(FRAGMENTS_AT_ONCE)
    .map(|joined| joined.unwrap_or_else(|error| Err(panicked(error))))
    .try_collect()
    .await
}

async fn delete_from(dataset: &Arc<Dataset>, deletions: Deletions) -> Outcome<Touched> {
    let Deletions {
        id,
        offsets,
        cached,
    } = deletions;
    let not_live =
        |offset: u32| Failure::invalid(format!("row {offset} of fragment {id} is not live"));
    let index = usize::try_from(id).map_err(|_| Failure::invalid("fragment id"))?;
    let Some(file_fragment) = dataset.get_fragment(index) else {
        return Err(Failure::invalid(format!("there is no fragment {id}")));
    };
    let mut fragment = file_fragment.metadata().clone();
    let physical_rows = fragment.physical_rows.unwrap_or_default();
    let before = vector_of(&file_fragment, cached).await?;
    let mut vector = before.as_ref().clone();
    // Deleting what is gone, or twice, would make the caller's counts wrong for ever.
    if let Some(offset) = offsets
        .iter()
        .find(|offset| **offset as usize >= physical_rows || vector.contains(**offset))
    {
        return Err(not_live(*offset));
    }
    let expected = vector.len() + offsets.len();
    vector.extend(offsets);
    if vector.len() != expected {
        return Err(Failure::invalid(format!(
            "a row of fragment {id} is deleted twice"
        )));
    }
    if vector.len() == physical_rows {
        return Ok(Touched { id, rest: None });
    }
    let store = dataset.object_store(None).await?;
    let base = dataset_base(dataset);
    fragment.deletion_file =
        write_deletion_file(&base, id, dataset.version_id(), &vector, &store).await?;
    Ok(Touched {
        id,
        rest: Some((fragment, Arc::new(vector))),
    })
}

async fn vector_of(
    fragment: &FileFragment,
    cached: Option<(DeletionFile, Arc<DeletionVector>)>,
) -> Outcome<Arc<DeletionVector>> {
    match cached {
        Some((file, vector)) if fragment.metadata().deletion_file.as_ref() == Some(&file) => {
            Ok(vector)
        }
        _ => Ok(fragment.get_deletion_vector().await?.unwrap_or_default()),
    }
}

impl Handle {
    /// The deleted rows of a fragment of the open version.
    pub async fn deletions_of(&self, id: u64) -> Outcome<Arc<DeletionVector>> {
        let found = usize::try_from(id)
            .ok()
            .and_then(|id| self.dataset.get_fragment(id));
        let Some(fragment) = found else {
            return Err(Failure::invalid(format!("there is no fragment {id}")));
        };
        vector_of(&fragment, self.deletions.vectors.get(&id).cloned()).await
    }

    /// Deletes rows of `fragments`, which have their ids and are named by no version, by their place
    /// among all rows of them; `positions` ascend.
    pub async fn delete_positions(
        &self,
        fragments: &mut [Fragment],
        positions: Vec<u64>,
    ) -> Outcome<Vec<Touched>> {
        let mut touched = Vec::new();
        let store = self.dataset.object_store(None).await?;
        let base = dataset_base(&self.dataset);
        let (mut begin, mut rest) = (0, positions.as_slice());
        for fragment in fragments {
            let rows = fragment.physical_rows.unwrap_or_default() as u64;
            let (own, others) = rest.split_at(rest.partition_point(|at| *at < begin + rows));
            rest = others;
            if !own.is_empty() {
                if own.len() as u64 == rows {
                    let message = "all rows of a new fragment were deleted meanwhile";
                    return Err(Failure::new(Class::Conflict, message));
                }
                let mut vector = DeletionVector::default();
                vector.extend(own.iter().map(|at| (at - begin) as u32));
                fragment.deletion_file =
                    write_deletion_file(&base, fragment.id, self.version(), &vector, &store)
                        .await?;
                touched.push(Touched {
                    id: fragment.id,
                    rest: Some((fragment.clone(), Arc::new(vector))),
                });
            }
            begin += rows;
        }
        if !rest.is_empty() {
            let message = "fewer rows were written than read";
            return Err(Failure::new(Class::Internal, message));
        }
        Ok(touched)
    }
}

/// The dataset's folder in its store.
pub fn dataset_base(dataset: &Dataset) -> object_store::path::Path {
    let parts: Vec<_> = dataset
        .data_dir()
        .parts()
        .map(|p| p.as_ref().to_string())
        .collect();
    object_store::path::Path::from_iter(parts[..parts.len() - 1].iter().cloned())
}

/// Removes files of a commit that certainly did not happen. Best effort: clean-up finds what stays.
pub async fn discard(base: &Dataset, written: &[Fragment]) {
    let Ok(store) = base.object_store(None).await else {
        return;
    };
    let root = dataset_base(base);
    for file in durability::fragment_files(&base.manifest.fragments, written) {
        let path = file
            .split('/')
            .fold(root.clone(), |path, part| path.join(part));
        let _ = store.delete(&path).await;
    }
}

impl DeletionCache {
    /// Keeps the vectors of a commit that went through, within about `bytes_max`.
    pub fn learn(&mut self, touched: Vec<Touched>, bytes_max: u64) {
        for Touched { id, rest } in touched {
            match rest {
                Some((fragment, vector)) => {
                    if let Some(file) = fragment.deletion_file {
                        self.vectors.insert(id, (file, vector));
                    }
                }
                None => {
                    self.vectors.remove(&id);
                }
            }
        }
        let held: u64 = self
            .vectors
            .values()
            .map(|(_, vector)| bytes_of(vector))
            .sum();
        if held > bytes_max / 4 {
            self.vectors.clear();
        }
    }
}

fn bytes_of(vector: &DeletionVector) -> u64 {
    match vector {
        DeletionVector::NoDeletions => 0,
        DeletionVector::Set(set) => set.len() as u64 * 8,
        DeletionVector::Bitmap(bitmap) => bitmap.serialized_size() as u64,
    }
}
