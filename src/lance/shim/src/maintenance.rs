//! Compaction, restore and clean-up. Each version that they make carries the caller's properties.
//!
//! A compaction reads and writes beside the commits; only its end, which takes the deletions of
//! these commits over, is a step of its own.

use std::collections::HashSet;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use lance::Dataset;
use lance::dataset::cleanup::CleanupPolicy;
use lance::dataset::index::DatasetIndexRemapperOptions;
use lance::dataset::optimize::remapping::transpose_row_addrs;
use lance::dataset::optimize::{
    CompactionOptions, CompactionTask, IndexRemapperOptions, RewriteResult, TaskData,
};
use lance::dataset::transaction::{Operation, RewriteGroup, RewrittenIndex};
use lance_core::utils::deletion::DeletionVector;
use lance_core::utils::row_addr_remap::RowAddrRemap;
use lance_table::format::Fragment;
use roaring::RoaringTreemap;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;

use crate::dataset::{Committed, Handle, Properties};
use crate::error::{Class, Failure, Outcome};

pub struct CompactionRequest {
    pub fragments: Vec<u64>,
    pub target_rows: u64,
    /// Bytes of a new data file at most.
    pub file_bytes: u64,
    /// Rows that are read at a time, and what may lie between reading and writing.
    pub batch_rows: u64,
    pub buffer_bytes: u64,
}

/// New fragments on their way: they hold the rows that were live when it began, and no version
/// names them yet. Commits may follow one another meanwhile.
pub struct Compaction {
    read: Arc<Dataset>,
    fragments: Vec<Fragment>,
    /// Of each fragment as it was read.
    vectors: Vec<Arc<DeletionVector>>,
    indices: HashSet<String>,
    task: Option<JoinHandle<Outcome<RewriteResult>>>,
    written: Option<Outcome<RewriteResult>>,
}

impl Compaction {
    /// Waits until all is written, or that failed, but no longer than `limit`.
    pub async fn wait(&mut self, limit: Duration) -> bool {
        if let Some(task) = &mut self.task
            && let Ok(joined) = timeout(limit, task).await
        {
            let panicked = |error: JoinError| Failure::new(Class::Panic, error.to_string());
            self.written = Some(joined.map_err(panicked).and_then(|written| written));
            self.task = None;
        }
        self.written.is_some()
    }

    /// Ends it without a version and removes what was written.
    pub async fn abandon(mut self) {
        self.wait(Duration::MAX).await;
        if let Some(Ok(written)) = &self.written {
            crate::write::discard(&self.read, &written.new_fragments).await;
        }
    }
}

impl Handle {
    /// Begins to rewrite the live rows of `fragments`, in that order, into new ones.
    pub async fn begin_compaction(&self, request: CompactionRequest) -> Outcome<Compaction> {
        let known = &self.dataset.manifest.fragments;
        let fragments = request
            .fragments
            .iter()
            .map(|id| {
                let found = known.iter().find(|fragment| fragment.id == *id);
                found
                    .cloned()
                    .ok_or_else(|| Failure::invalid(format!("there is no fragment {id}")))
            })
            .collect::<Outcome<Vec<Fragment>>>()?;
        if fragments.is_empty() {
            return Err(Failure::invalid("no fragment to compact"));
        }
        let mut vectors = Vec::with_capacity(fragments.len());
        for fragment in &fragments {
            vectors.push(self.deletions_of(fragment.id).await?);
        }
        let usize_of = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let task = CompactionTask {
            task: TaskData {
                fragments: fragments.clone(),
            },
            read_version: self.version(),
            options: CompactionOptions {
                target_rows_per_fragment: usize_of(request.target_rows),
                max_bytes_per_file: Some(usize_of(request.file_bytes)),
                batch_size: Some(usize_of(request.batch_rows)),
                io_buffer_size: Some(request.buffer_bytes),
                ..CompactionOptions::default()
            },
        };
        let read = self.dataset.clone();
        let gate = self.gate.clone();
        let (dataset, base) = (read.clone(), read.clone());
        let written = async move {
            let written = task.execute(&dataset).await?;
            // Synced here and not by the commit, which would wait for it.
            gate.sync_ahead(&base, &written.new_fragments).await?;
            Ok(written)
        };
        Ok(Compaction {
            read,
            fragments,
            vectors,
            indices: self.index_ids().await?,
            task: Some(tokio::spawn(written)),
            written: None,
        })
    }

    /// Puts the new fragments in the place of the old ones, without the rows that were deleted
    /// meanwhile.
    ///
    /// One version. With indices it takes two: the ids of the new fragments are reserved first,
    /// because the indices have to name them.
    pub async fn finish_compaction(
        &mut self,
        mut compaction: Compaction,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        compaction.wait(Duration::MAX).await;
        let mut rewritten = match compaction.written.take() {
            Some(written) => written?,
            None => return Err(Failure::invalid("a compaction that was not waited for")),
        };
        let base = self.dataset.clone();
        let done = self
            .replace(&compaction, &mut rewritten, expected_version, properties)
            .await;
        match &done {
            Ok(_) => {
                for fragment in &compaction.fragments {
                    self.deletions.vectors.remove(&fragment.id);
                }
            }
            Err(failure) if failure.class == Class::Conflict => {
                crate::write::discard(&base, &rewritten.new_fragments).await;
            }
            Err(_) => {}
        }
        done
    }

    async fn replace(
        &mut self,
        compaction: &Compaction,
        rewritten: &mut RewriteResult,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        // An index that was made or extended since does not know what it has to follow.
        if self.index_ids().await? != compaction.indices {
            let message = "an index was changed while fragments were rewritten";
            return Err(Failure::new(Class::Conflict, message));
        }
        let deleted = self.deleted_meanwhile(compaction).await?;
        let count = u32::try_from(rewritten.new_fragments.len())
            .map_err(|_| Failure::invalid("too many fragments"))?;
        if rewritten.row_addrs.is_some() {
            // With the properties: a crash between the two commits leaves a version that says where
            // it stands.
            let reserve = Operation::ReserveFragments {
                num_fragments: count,
            };
            self.publish(reserve, "", properties.clone()).await?;
        }
        let highest = self.dataset.manifest.max_fragment_id;
        let past_last = highest.map_or(0, |id| id + 1);
        let first = match rewritten.row_addrs {
            Some(_) => past_last - count,
            None => past_last,
        };
        for (fragment, id) in rewritten.new_fragments.iter_mut().zip(first..) {
            fragment.id = u64::from(id);
        }
        let touched = self
            .delete_positions(&mut rewritten.new_fragments, deleted)
            .await?;
        let indices = match rewritten.row_addrs.take() {
            None => Vec::new(),
            Some(moved) => self.remapped(rewritten, &moved).await?,
        };
        // Lance compares what was read with what stands there now.
        let standing = self.dataset.manifest.fragments.iter();
        let is_replaced = |f: &&Fragment| compaction.fragments.iter().any(|old| old.id == f.id);
        let operation = rewrite(
            standing.filter(is_replaced).cloned().collect(),
            rewritten.new_fragments.clone(),
            indices,
        );
        let committed = self.publish(operation, "", properties).await?;
        self.deletions.learn(touched, self.cache_bytes);
        Ok(committed)
    }

    /// Rows that commits deleted since they were read, by their place among the rows written;
    /// ascending. A conflict where the fragments are no longer those that were read.
    async fn deleted_meanwhile(&self, compaction: &Compaction) -> Outcome<Vec<u64>> {
        let mut positions = Vec::new();
        let mut begin = 0;
        for (old, before) in compaction.fragments.iter().zip(&compaction.vectors) {
            let changed = || {
                let message = format!("fragment {} was changed by another commit", old.id);
                Failure::new(Class::Conflict, message)
            };
            let fragments = &self.dataset.manifest.fragments;
            let now = fragments.iter().find(|f| f.id == old.id);
            if now.is_none_or(|now| now.files != old.files) {
                return Err(changed());
            }
            let mut known = 0;
            for offset in self.deletions_of(old.id).await?.to_sorted_iter() {
                if before.contains(offset) {
                    known += 1;
                } else {
                    positions.push(begin + u64::from(offset) - known);
                }
            }
            // A row that is back was not written.
            if known != before.len() as u64 {
                return Err(changed());
            }
            begin += old.physical_rows.unwrap_or_default() as u64 - known;
        }
        Ok(positions)
    }

    async fn remapped(
        &self,
        rewritten: &RewriteResult,
        moved: &[u8],
    ) -> Outcome<Vec<RewrittenIndex>> {
        let remapper = DatasetIndexRemapperOptions::default()
            .create_remapper(&self.dataset)
            .await?;
        let mut indices = Vec::new();
        if let Some(remapper) = remapper {
            let moved = RoaringTreemap::deserialize_from(&mut Cursor::new(moved))?;
            let map = RowAddrRemap::direct(transpose_row_addrs(
                moved,
                &rewritten.original_fragments,
                &rewritten.new_fragments,
            ));
            let affected: Vec<u64> = rewritten.original_fragments.iter().map(|f| f.id).collect();
            for index in remapper.remap_indices(map, &affected).await? {
                indices.push(RewrittenIndex {
                    old_id: index.old_id,
                    new_id: index.new_id,
                    new_index_details: index.index_details,
                    new_index_version: index.index_version,
                    new_index_files: index.files,
                });
            }
        }
        Ok(indices)
    }

    /// Makes the content of `version` the next version.
    pub async fn restore(
        &mut self,
        version: u64,
        expected_version: u64,
        properties: Properties,
    ) -> Outcome<Committed> {
        self.check_next_is_free(expected_version).await?;
        // Asked first: a restore of a missing version would fail after its transaction file was
        // written.
        self.describe(version).await?;
        let committed = self
            .publish(Operation::Restore { version }, "", properties)
            .await?;
        self.deletions.vectors.clear();
        Ok(committed)
    }

    /// Deletes untagged versions below `keep_from` and what only they name. Returns bytes freed.
    pub async fn cleanup(&self, keep_from: u64) -> Outcome<u64> {
        let policy = CleanupPolicy {
            before_version: Some(keep_from),
            // Files that no version names yet may belong to a commit under way; Lance gives them a
            // week.
            delete_unverified: false,
            error_if_tagged_old_versions: false,
            ..CleanupPolicy::default()
        };
        let stats = self.dataset.cleanup_with_policy(policy).await?;
        Ok(stats.bytes_removed)
    }
}

fn rewrite(
    old_fragments: Vec<Fragment>,
    new_fragments: Vec<Fragment>,
    rewritten_indices: Vec<RewrittenIndex>,
) -> Operation {
    Operation::Rewrite {
        groups: vec![RewriteGroup {
            old_fragments,
            new_fragments,
        }],
        rewritten_indices,
        frag_reuse_index: None,
    }
}
