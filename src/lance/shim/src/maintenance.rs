//! Compaction, restore and clean-up. Each version that they make carries the caller's properties.

use std::io::Cursor;

use lance::dataset::cleanup::CleanupPolicy;
use lance::dataset::index::DatasetIndexRemapperOptions;
use lance::dataset::optimize::remapping::transpose_row_addrs;
use lance::dataset::optimize::{
    CompactionOptions, CompactionTask, IndexRemapperOptions, RewriteResult, TaskData,
};
use lance::dataset::transaction::{Operation, RewriteGroup, RewrittenIndex};
use lance_core::utils::row_addr_remap::RowAddrRemap;
use lance_table::format::Fragment;
use roaring::RoaringTreemap;

use crate::dataset::{Committed, Handle, Properties};
use crate::error::{Class, Failure, Outcome};

pub struct CompactionRequest {
    pub expected_version: u64,
    pub fragments: Vec<u64>,
    pub target_rows: u64,
    pub properties: Properties,
    /// Called once the new fragments are written, before a version names them.
    pub on_written: Option<extern "C" fn()>,
}

impl Handle {
    /// Rewrites the live rows of `fragments`, in that order, into new ones.
    ///
    /// One version. With indices it takes two: the ids of the new fragments are reserved first,
    /// because the indices have to name them.
    pub async fn compact(&mut self, request: CompactionRequest) -> Outcome<Committed> {
        self.check_next_is_free(request.expected_version).await?;
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
        let task = CompactionTask {
            task: TaskData { fragments },
            read_version: self.version(),
            options: CompactionOptions {
                target_rows_per_fragment: usize::try_from(request.target_rows)
                    .unwrap_or(usize::MAX),
                max_bytes_per_file: Some(crate::write::FILE_BYTES_MAX),
                ..CompactionOptions::default()
            },
        };
        let rewritten = task.execute(&self.dataset).await?;
        if let Some(on_written) = request.on_written {
            on_written();
        }
        let base = self.dataset.clone();
        let new_fragments = rewritten.new_fragments.clone();
        let committed = match &rewritten.row_addrs {
            None => {
                let operation = rewrite(&rewritten, Vec::new());
                self.publish(operation, "", request.properties).await
            }
            Some(moved) => {
                let moved = moved.clone();
                self.compact_with_indices(rewritten, &moved, request.properties)
                    .await
            }
        };
        if let Err(failure) = &committed
            && failure.class == Class::Conflict
        {
            crate::write::discard(&base, &new_fragments).await;
        }
        let committed = committed?;
        for fragment in &request.fragments {
            self.deletions.vectors.remove(fragment);
        }
        Ok(committed)
    }

    async fn compact_with_indices(
        &mut self,
        mut rewritten: RewriteResult,
        moved: &[u8],
        properties: Properties,
    ) -> Outcome<Committed> {
        let count = u32::try_from(rewritten.new_fragments.len())
            .map_err(|_| Failure::invalid("too many fragments"))?;
        let reserve = Operation::ReserveFragments {
            num_fragments: count,
        };
        // With the properties: a crash between the two commits leaves a version that says where it
        // stands.
        self.publish(reserve, "", properties.clone()).await?;
        let past_last = self.dataset.manifest.max_fragment_id.map_or(0, |id| id + 1);
        for (fragment, id) in rewritten.new_fragments.iter_mut().zip(past_last - count..) {
            fragment.id = u64::from(id);
        }
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
        self.publish(rewrite(&rewritten, indices), "", properties)
            .await
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

fn rewrite(rewritten: &RewriteResult, rewritten_indices: Vec<RewrittenIndex>) -> Operation {
    Operation::Rewrite {
        groups: vec![RewriteGroup {
            old_fragments: rewritten.original_fragments.clone(),
            new_fragments: rewritten.new_fragments.clone(),
        }],
        rewritten_indices,
        frag_reuse_index: None,
    }
}
