//! Classes of failure, and the one place that reads Lance's errors.
//!
//! A class exists only where the caller acts differently on it. A refusal by our own commit handler
//! and a lost put-if-absent are the same to the caller: somebody else took the version.

use std::error::Error as StdError;

use lance_core::Error as LanceError;

/// Numbers are part of the ABI (`lastword_lance.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Class {
    /// Another commit took the version, or rewrote what this one builds upon. Nothing became
    /// visible.
    Conflict = 1,
    /// The commit may be visible. Look for its transaction id before anything else.
    OutcomeUnknown = 2,
    Io = 3,
    DiskFull = 4,
    NotFound = 5,
    AlreadyExists = 6,
    /// The call makes no sense for this dataset: a defect of the caller.
    Invalid = 7,
    Corrupt = 8,
    Panic = 9,
    /// Lance answered something that the caller cannot have caused.
    Internal = 10,
    /// The dataset, or the kind of storage, is one that this crate does not work with.
    Unsupported = 11,
}

#[derive(Debug)]
pub struct Failure {
    pub class: Class,
    pub message: String,
}

pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Class::Invalid, message)
    }
}

impl From<LanceError> for Failure {
    fn from(error: LanceError) -> Self {
        Self::new(classify(&error), describe(&error))
    }
}

impl From<arrow_schema::ArrowError> for Failure {
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let class = if is_disk_full(&error) {
            Class::DiskFull
        } else {
            Class::Io
        };
        Self::new(class, error.to_string())
    }
}

fn classify(error: &LanceError) -> Class {
    if error.is_commit_status_unknown() {
        return Class::OutcomeUnknown;
    }
    if is_disk_full(error) {
        return Class::DiskFull;
    }
    if is_missing(error) {
        return Class::NotFound;
    }
    if is_cut_short(error) {
        return Class::Corrupt;
    }
    match error.find_root() {
        LanceError::CommitConflict { .. }
        | LanceError::RetryableCommitConflict { .. }
        | LanceError::IncompatibleTransaction { .. }
        | LanceError::TooMuchWriteContention { .. } => Class::Conflict,
        // A timeout says nothing about whether the last step was carried out.
        LanceError::Timeout { .. } => Class::OutcomeUnknown,
        LanceError::DatasetNotFound { .. }
        | LanceError::NotFound { .. }
        | LanceError::VersionNotFound { .. }
        | LanceError::RefNotFound { .. } => Class::NotFound,
        LanceError::DatasetAlreadyExists { .. } => Class::AlreadyExists,
        LanceError::CorruptFile { .. } => Class::Corrupt,
        LanceError::InvalidInput { .. }
        | LanceError::SchemaMismatch { .. }
        | LanceError::Schema { .. }
        | LanceError::FieldNotFound { .. }
        | LanceError::InvalidTableLocation { .. } => Class::Invalid,
        LanceError::NotSupported { .. } | LanceError::VersionConflict { .. } => Class::Unsupported,
        LanceError::IO { .. } | LanceError::Cleanup { .. } | LanceError::DiskCapExceeded { .. } => {
            Class::Io
        }
        // Arrow and execution errors come out of reading files that this crate or Lance wrote.
        LanceError::Arrow { .. } | LanceError::Execution { .. } => Class::Corrupt,
        _ => Class::Internal,
    }
}

/// Readers of data files report a missing one as an I/O error around an I/O error.
fn is_missing(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::NotFound)
            || matches!(
                cause.downcast_ref::<object_store::Error>(),
                Some(object_store::Error::NotFound { .. })
            )
            // Through the wrapper that lets several readers share one error, too.
            || cause.downcast_ref::<LanceError>().is_some_and(LanceError::is_not_found)
    })
}

/// A file that ends before the bytes that a manifest or its own footer names. The store says so only
/// in words.
fn is_cut_short(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::UnexpectedEof)
            || cause.to_string().contains("Invalid range")
    })
}

/// The error and what caused it, one after the other.
fn chain<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |cause| next_cause(*cause))
}

fn next_cause<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    // The source of a wrapping io::Error is that of what it wraps, which it would step over.
    match cause.downcast_ref::<std::io::Error>() {
        Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
        None => cause.source(),
    }
}

/// Lance's local writers wrap the operating system's error several layers deep, and some of them
/// keep only its text.
fn is_disk_full(error: &(dyn StdError + 'static)) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let is_full = |cause: &(dyn StdError + 'static)| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| matches!(io.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    };
    if chain(error).any(is_full) {
        return true;
    }
    let text = error.to_string();
    text.contains("No space left on device") || text.contains("Disk quota exceeded")
}

/// The error's text without the place in Lance's sources, which says nothing to a user.
fn describe(error: &LanceError) -> String {
    let text = error.to_string();
    let end = text.find(", /").unwrap_or(text.len());
    text[..end].to_string()
}
