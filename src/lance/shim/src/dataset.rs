//! One open dataset: its version, its gate, and questions about versions.
//!
//! All state sits in `Session`-bounded caches and in the handle; a handle is used by one thread at
//! a time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::Schema as ArrowSchema;
use lance::Dataset;
use lance::dataset::builder::DatasetBuilder;
use lance::dataset::transaction::{Operation, Transaction, TransactionBuilder};
use lance::dataset::{CommitBuilder, WriteDestination};
use lance::index::DatasetIndexExt;
use lance::session::Session;
use lance_core::datatypes::Schema;
use lance_core::utils::deletion::DeletionVector;
use lance_table::format::{DeletionFile, Fragment};
use lance_table::io::commit::commit_handler_from_url;

use crate::commit_handler::CommitGate;
use crate::error::{Class, Failure, Outcome};

pub struct Options {
    pub fsync: bool,
    pub storage_version: String,
    pub cache_bytes: u64,
}

pub type Properties = HashMap<String, String>;

/// Deletion vectors of the current version, so that a commit does not read back what the last one
/// wrote.
#[derive(Default)]
pub struct DeletionCache {
    pub vectors: HashMap<u64, (DeletionFile, Arc<DeletionVector>)>,
}

pub struct Handle {
    pub dataset: Arc<Dataset>,
    pub gate: Arc<CommitGate>,
    pub deletions: DeletionCache,
    pub cache_bytes: u64,
}

/// What a version says about the commit that made it.
pub struct VersionInfo {
    pub version: u64,
    pub timestamp_ms: i64,
    pub operation: String,
    pub transaction_id: String,
    pub restored_version: u64,
    pub properties: Vec<(String, String)>,
}

/// A commit that went through: the files it brought and the fragments that were not there before.
pub struct Committed {
    pub version: u64,
    pub new_fragments: Vec<Fragment>,
    pub bytes_written: u64,
}

async fn gate_for(uri: &str, options: &Options) -> Outcome<Arc<CommitGate>> {
    let inner = commit_handler_from_url(uri, &None).await?;
    // Lance falls back to a handler without any exclusion for schemes that it does not know.
    if format!("{inner:?}") == "UnsafeCommitHandler" {
        return Err(Failure::new(
            Class::Unsupported,
            format!("{uri}: this kind of storage cannot exclude concurrent commits"),
        ));
    }
    Ok(Arc::new(CommitGate::new(inner, options.fsync)))
}

fn session_for(options: &Options) -> Arc<Session> {
    // Lance's own defaults are 6 GiB for indices and 1 GiB for metadata. The last quarter is that
    // of the deletion vectors.
    let quarter = usize::try_from(options.cache_bytes / 4).unwrap_or(usize::MAX / 2);
    Arc::new(Session::new(quarter, 2 * quarter, Default::default()))
}

impl Handle {
    pub async fn open(uri: &str, options: &Options) -> Outcome<Self> {
        let gate = gate_for(uri, options).await?;
        let dataset = DatasetBuilder::from_uri(uri)
            .with_session(session_for(options))
            .with_commit_handler(gate.clone())
            .load()
            .await?;
        Self::check_supported(&dataset)?;
        Ok(Self {
            dataset: Arc::new(dataset),
            gate,
            deletions: DeletionCache::default(),
            cache_bytes: options.cache_bytes,
        })
    }

    /// Creates version 1 without rows.
    pub async fn create(
        uri: &str,
        schema: &ArrowSchema,
        properties: Properties,
        transaction_id: &str,
        options: &Options,
    ) -> Outcome<Self> {
        match Self::open(uri, options).await {
            Ok(_) => {
                return Err(Failure::new(
                    Class::AlreadyExists,
                    format!("{uri}: there is a dataset already"),
                ));
            }
            Err(failure) if failure.class == Class::NotFound => {}
            Err(failure) => return Err(failure),
        }
        let gate = gate_for(uri, options).await?;
        let operation = Operation::Overwrite {
            fragments: Vec::new(),
            schema: Schema::try_from(schema)?,
            config_upsert_values: None,
            initial_bases: None,
        };
        let storage_version = options.storage_version.parse()?;
        gate.arm(1, Arc::default(), HashSet::new());
        let committed = CommitBuilder::new(WriteDestination::Uri(uri))
            .with_session(session_for(options))
            .with_commit_handler(gate.clone())
            .with_storage_format(storage_version)
            .enable_v2_manifest_paths(true)
            .use_stable_row_ids(false)
            .with_skip_auto_cleanup(true)
            .with_max_retries(0)
            .with_timeout(None)
            .execute(transaction(0, operation, transaction_id, properties))
            .await;
        let report = gate.disarm();
        match committed {
            Ok(_) => {}
            Err(_) if report.refusal.is_some() => {
                return Err(Failure::new(
                    Class::AlreadyExists,
                    format!("{uri}: created by another writer"),
                ));
            }
            Err(error) => return Err(error.into()),
        }
        // Opened like any other, so that schema calls and commits share one way in.
        Self::open(uri, options).await
    }

    /// Addresses must say where a row lies; other people's tables may be built differently.
    fn check_supported(dataset: &Dataset) -> Outcome<()> {
        let unsupported = |text: &str| Err(Failure::new(Class::Unsupported, text));
        if dataset.manifest.uses_stable_row_ids() {
            return unsupported("stable row ids: a row's address is not its place there");
        }
        let is_counted = |fragment: &Fragment| {
            let deletions = fragment.deletion_file.as_ref();
            fragment.physical_rows.is_some()
                && deletions.is_none_or(|file| file.num_deleted_rows.is_some())
        };
        if !dataset.manifest.fragments.iter().all(is_counted) {
            return unsupported("written by a Lance that did not record its row counts");
        }
        Ok(())
    }

    pub fn version(&self) -> u64 {
        self.dataset.version_id()
    }

    pub async fn refresh(&mut self) -> Outcome<()> {
        let mut dataset = self.dataset.as_ref().clone();
        dataset.checkout_latest().await?;
        Self::check_supported(&dataset)?;
        self.dataset = Arc::new(dataset);
        Ok(())
    }

    pub async fn latest(&self) -> Outcome<u64> {
        Ok(self.dataset.latest_version_id().await?)
    }

    pub async fn checkout(&mut self, version: u64) -> Outcome<()> {
        let dataset = self.dataset.checkout_version(version).await?;
        Self::check_supported(&dataset)?;
        self.dataset = Arc::new(dataset);
        Ok(())
    }

    pub async fn versions(&self) -> Outcome<Vec<u64>> {
        let versions = self.dataset.version_refs().await?;
        Ok(versions.iter().map(|version| version.version).collect())
    }

    pub async fn describe(&self, version: u64) -> Outcome<VersionInfo> {
        let read = self.dataset.read_version_transaction(version).await?;
        let mut info = VersionInfo {
            version,
            timestamp_ms: read.timestamp.timestamp_millis(),
            operation: String::new(),
            transaction_id: String::new(),
            restored_version: 0,
            properties: Vec::new(),
        };
        if let Some(transaction) = read.transaction {
            info.operation = transaction.operation.name().to_string();
            info.transaction_id = transaction.uuid;
            if let Operation::Restore { version } = transaction.operation {
                info.restored_version = version;
            }
            if let Some(properties) = transaction.transaction_properties {
                info.properties = properties
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                info.properties.sort();
            }
        }
        Ok(info)
    }

    /// Looks from the latest version back to `from_version` for the commit with this id.
    pub async fn find_transaction(&self, id: &str, from_version: u64) -> Outcome<Option<u64>> {
        let mut versions = self.versions().await?;
        versions.retain(|version| *version >= from_version);
        for version in versions.into_iter().rev() {
            match self.dataset.read_transaction_by_version(version).await {
                Ok(Some(transaction)) if transaction.uuid == id => return Ok(Some(version)),
                Ok(_) => {}
                Err(error) => {
                    let failure = Failure::from(error);
                    // Clean-up by somebody else may remove a version between the listing and this.
                    if failure.class != Class::NotFound {
                        return Err(failure);
                    }
                }
            }
        }
        Ok(None)
    }

    pub async fn index_ids(&self) -> Outcome<HashSet<String>> {
        if self.dataset.manifest.index_section.is_none() {
            return Ok(HashSet::new());
        }
        let indices = self.dataset.load_indices().await?;
        Ok(indices.iter().map(|index| index.uuid.to_string()).collect())
    }

    /// Refuses before anything is written when the next version is already there.
    pub async fn check_next_is_free(&self, expected_version: u64) -> Outcome<()> {
        if self.version() != expected_version {
            return Err(Failure::invalid(format!(
                "commit upon version {expected_version}, but version {} is open",
                self.version()
            )));
        }
        if self.dataset.has_successor_version().await? {
            return Err(Failure::new(
                Class::Conflict,
                format!(
                    "version {} was taken by another commit",
                    expected_version + 1
                ),
            ));
        }
        Ok(())
    }

    /// Publishes `operation` as the version after the open one, or nothing, and moves to it.
    pub async fn publish(
        &mut self,
        operation: Operation,
        transaction_id: &str,
        properties: Properties,
    ) -> Outcome<Committed> {
        let before = self.dataset.clone();
        let version = before.version_id() + 1;
        let base = before.manifest.fragments.clone();
        self.gate
            .arm(version, base.clone(), self.index_ids().await?);
        let committed = CommitBuilder::new(before.clone())
            .with_commit_handler(self.gate.clone())
            .with_skip_auto_cleanup(true)
            .with_max_retries(0)
            .with_timeout(None)
            .execute(transaction(
                before.version_id(),
                operation,
                transaction_id,
                properties,
            ))
            .await;
        let report = self.gate.disarm();
        let after = match committed {
            Ok(after) => after,
            Err(_) if report.refusal.is_some() => {
                return Err(Failure::new(
                    Class::Conflict,
                    report.refusal.unwrap_or_default(),
                ));
            }
            Err(error) => return Err(error.into()),
        };
        self.dataset = Arc::new(after);
        if let Some(error) = report.publish_error {
            // Lance found the manifest in place although publishing it failed: visible, perhaps not
            // durable.
            return Err(Failure::new(
                Class::OutcomeUnknown,
                format!("version {version} is visible, but: {error}"),
            ));
        }
        let known: HashSet<u64> = base.iter().map(|fragment| fragment.id).collect();
        let fragments = &self.dataset.manifest.fragments;
        let new_fragments: Vec<Fragment> = fragments
            .iter()
            .filter(|fragment| !known.contains(&fragment.id))
            .cloned()
            .collect();
        Ok(Committed {
            version: self.version(),
            bytes_written: report.bytes_written,
            new_fragments,
        })
    }
}

fn transaction(
    read_version: u64,
    operation: Operation,
    id: &str,
    properties: Properties,
) -> Transaction {
    // CommitBuilder::with_transaction_properties keeps a value that it never writes; this is the
    // way that works.
    let mut builder = TransactionBuilder::new(read_version, operation)
        .transaction_properties(Some(Arc::new(properties)));
    if !id.is_empty() {
        builder = builder.uuid(id.to_string());
    }
    builder.build()
}
