//! The gate in front of every manifest.
//!
//! Lance rebases a transaction over commits of others even with zero retries, so a stale writer
//! would be accepted. A dataset opened by this crate can only publish the version that was
//! announced to its gate (`arm`); anything else is refused before the manifest exists. The same
//! place syncs what the manifest names, because it is the last one that sees it unpublished.

use std::collections::HashSet;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use futures::stream::BoxStream;
use lance::Dataset;
use lance_core::{Error, Result};
use lance_io::local::to_local_path;
use lance_io::object_store::ObjectStore;
use lance_table::format::{Fragment, IndexMetadata, Manifest, Transaction};
use lance_table::io::commit::{
    CommitError, CommitHandler, ManifestLocation, ManifestNamingScheme, ManifestWriter,
};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use tokio::task::JoinError;

use crate::durability::{NewFiles, fragment_files, sync_all};
use crate::error::{Class, Failure, Outcome};
use crate::write::dataset_base;

/// What the next commit may be, and what became of it.
#[derive(Debug, Default)]
struct Step {
    /// The only version that may be published; none = nothing may.
    version: Option<u64>,
    base: Arc<Vec<Fragment>>,
    base_indices: HashSet<String>,
    refusal: Option<String>,
    publish_error: Option<String>,
    bytes_written: u64,
}

#[derive(Debug)]
pub struct CommitGate {
    inner: Arc<dyn CommitHandler>,
    fsync: bool,
    step: Mutex<Step>,
}

/// What the gate saw of one armed commit.
pub struct Report {
    /// Somebody else's version stood in the way.
    pub refusal: Option<String>,
    /// The manifest may have appeared, but writing or syncing it reported this.
    pub publish_error: Option<String>,
    /// Size of the data, deletion and transaction files of the version; known for local storage
    /// only.
    pub bytes_written: u64,
}

impl CommitGate {
    pub fn new(inner: Arc<dyn CommitHandler>, fsync: bool) -> Self {
        Self {
            inner,
            fsync,
            step: Mutex::default(),
        }
    }

    /// Lets exactly one commit through: that of `version`, built upon `base`.
    pub fn arm(&self, version: u64, base: Arc<Vec<Fragment>>, base_indices: HashSet<String>) {
        *self.lock() = Step {
            version: Some(version),
            base,
            base_indices,
            ..Step::default()
        };
    }

    /// Closes the gate again and tells what happened at it.
    pub fn disarm(&self) -> Report {
        let step = std::mem::take(&mut *self.lock());
        Report {
            refusal: step.refusal,
            publish_error: step.publish_error,
            bytes_written: step.bytes_written,
        }
    }

    /// Syncs new files of fragments that a later commit will name: it has little left to wait for.
    pub async fn sync_ahead(&self, dataset: &Dataset, fragments: &[Fragment]) -> Outcome<()> {
        let store = dataset.object_store(None).await?;
        if !self.fsync || !store.has_direct_local_paths() {
            return Ok(());
        }
        let root = PathBuf::from(to_local_path(&dataset_base(dataset)));
        let files = fragment_files(&dataset.manifest.fragments, fragments);
        let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
        // Of the runtime's threads, none waits for the disk.
        let synced = tokio::task::spawn_blocking(move || sync_all(&files)).await;
        let panicked = |error: JoinError| Failure::new(Class::Panic, error.to_string());
        synced
            .map_err(panicked)?
            .map_err(|error| Error::io_source(Box::new(error)).into())
    }

    fn lock(&self) -> MutexGuard<'_, Step> {
        // A panic while the lock is held leaves plain data behind, never a half-made state.
        self.step
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Takes the announced step, or refuses.
    fn admit(
        &self,
        version: u64,
    ) -> std::result::Result<(Arc<Vec<Fragment>>, HashSet<String>), CommitError> {
        let mut step = self.lock();
        if step.version != Some(version) {
            let refusal = match step.version {
                Some(expected) => format!("version {expected} was taken by another commit"),
                None => format!("version {version} was not announced"),
            };
            step.refusal = Some(refusal.clone());
            // Not CommitError::CommitConflict: that one makes Lance rebase and try again.
            return Err(CommitError::OtherError(Error::prerequisite_failed(refusal)));
        }
        step.version = None;
        Ok((step.base.clone(), std::mem::take(&mut step.base_indices)))
    }
}

#[async_trait]
impl CommitHandler for CommitGate {
    // Only with these two does Lance look up by itself whether a failed put landed.
    fn is_version_not_found_definitive(&self) -> bool {
        true
    }

    fn propagate_commit_error_after_success(&self) -> bool {
        false
    }

    async fn resolve_latest_location(
        &self,
        base_path: &Path,
        object_store: &ObjectStore,
    ) -> Result<ManifestLocation> {
        self.inner
            .resolve_latest_location(base_path, object_store)
            .await
    }

    async fn resolve_version_location(
        &self,
        base_path: &Path,
        version: u64,
        object_store: &dyn object_store::ObjectStore,
    ) -> Result<ManifestLocation> {
        self.inner
            .resolve_version_location(base_path, version, object_store)
            .await
    }

    async fn version_exists(
        &self,
        base_path: &Path,
        version: u64,
        object_store: &dyn object_store::ObjectStore,
        naming_scheme: ManifestNamingScheme,
    ) -> Result<bool> {
        self.inner
            .version_exists(base_path, version, object_store, naming_scheme)
            .await
    }

    fn list_manifest_locations<'a>(
        &self,
        base_path: &Path,
        object_store: &'a ObjectStore,
        sorted_descending: bool,
    ) -> BoxStream<'a, Result<ManifestLocation>> {
        self.inner
            .list_manifest_locations(base_path, object_store, sorted_descending)
    }

    fn list_manifest_locations_since<'a>(
        &self,
        base_path: &Path,
        object_store: &'a ObjectStore,
        since_version: u64,
    ) -> BoxStream<'a, Result<ManifestLocation>> {
        self.inner
            .list_manifest_locations_since(base_path, object_store, since_version)
    }

    async fn commit(
        &self,
        manifest: &mut Manifest,
        indices: Option<Vec<IndexMetadata>>,
        base_path: &Path,
        object_store: &ObjectStore,
        manifest_writer: ManifestWriter,
        naming_scheme: ManifestNamingScheme,
        transaction: Option<Transaction>,
    ) -> std::result::Result<ManifestLocation, CommitError> {
        let (base, base_indices) = self.admit(manifest.version)?;
        let mut store = object_store.clone();
        if object_store.has_direct_local_paths() {
            let files = NewFiles::of(
                base_path,
                &base,
                &base_indices,
                manifest,
                indices.as_deref(),
            )
            .map_err(failed)?;
            self.lock().bytes_written = files.bytes();
            if self.fsync {
                files.sync().map_err(failed)?;
                // The manifest goes through the store, and nothing else that has to be synced does.
                store.inner = Arc::new(LocalFileSystem::new().with_fsync(true));
            }
        }
        let published = self
            .inner
            .commit(
                manifest,
                indices,
                base_path,
                &store,
                manifest_writer,
                naming_scheme,
                transaction,
            )
            .await;
        if let Err(CommitError::OtherError(error)) = &published {
            self.lock().publish_error = Some(error.to_string());
        }
        published
    }
}

fn failed(error: std::io::Error) -> CommitError {
    CommitError::OtherError(Error::io_source(Box::new(error)))
}
