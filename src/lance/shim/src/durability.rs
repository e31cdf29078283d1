//! What a new version must have on disk before its manifest appears.
//!
//! Lance renames data, deletion and transaction files into place and syncs none of them: after a
//! power loss a manifest could name empty files. The files that a manifest names and its
//! predecessor did not are synced here, with the folders that hold their names. Local storage only.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path as LocalPath, PathBuf};

use lance_io::local::to_local_path;
use lance_table::format::{Fragment, IndexMetadata, Manifest};
use lance_table::io::deletion::relative_deletion_file_path;
use object_store::path::Path;

/// The files of one version that its predecessor did not name.
pub struct NewFiles {
    root: PathBuf,
    files: Vec<PathBuf>,
    is_first_version: bool,
}

impl NewFiles {
    pub fn of(
        base_path: &Path,
        base: &[Fragment],
        base_indices: &HashSet<String>,
        manifest: &Manifest,
        indices: Option<&[IndexMetadata]>,
    ) -> Result<Self> {
        let root = PathBuf::from(to_local_path(base_path));
        let mut files: Vec<PathBuf> = fragment_files(base, &manifest.fragments)
            .iter()
            .map(|file| root.join(file))
            .collect();
        if let Some(name) = manifest.transaction_file.as_ref().filter(|n| !n.is_empty()) {
            files.push(root.join("_transactions").join(name));
        }
        for index in indices.unwrap_or_default() {
            let id = index.uuid.to_string();
            if !base_indices.contains(&id) {
                add_files_below(&root.join("_indices").join(id), &mut files)?;
            }
        }
        Ok(Self {
            root,
            files,
            is_first_version: manifest.version == 1,
        })
    }

    /// Their total size.
    pub fn bytes(&self) -> u64 {
        self.files
            .iter()
            .filter_map(|file| std::fs::metadata(file).ok())
            .map(|metadata| metadata.len())
            .sum()
    }

    /// Syncs the files, then the folders that name them from the inside out.
    pub fn sync(&self) -> Result<()> {
        let mut folders: BTreeSet<&LocalPath> = BTreeSet::from([self.root.as_path()]);
        for file in &self.files {
            let inside = file.ancestors().skip(1);
            folders.extend(inside.take_while(|folder| folder.starts_with(&self.root)));
        }
        sync_all(&self.files)?;
        for folder in folders.iter().rev() {
            sync(folder)?;
        }
        if self.is_first_version {
            // Folders above may have been made for this dataset; what is not ours to open was there
            // before.
            for folder in self.root.ancestors().skip(1) {
                match sync(folder) {
                    Err(error) if error.kind() != ErrorKind::PermissionDenied => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Paths, relative to the dataset, that `fragments` name and `base` does not.
pub fn fragment_files(base: &[Fragment], fragments: &[Fragment]) -> Vec<String> {
    let before: HashMap<u64, &Fragment> = base.iter().map(|f| (f.id, f)).collect();
    let mut files = Vec::new();
    for fragment in fragments {
        let old = before.get(&fragment.id);
        for file in fragment.files.iter().filter(|file| file.base_id.is_none()) {
            if !old.is_some_and(|old| old.files.iter().any(|f| f.path == file.path)) {
                files.push(format!("data/{}", file.path));
            }
        }
        if let Some(deletions) = &fragment.deletion_file
            && deletions.base_id.is_none()
            && old.and_then(|old| old.deletion_file.as_ref()) != Some(deletions)
        {
            files.push(relative_deletion_file_path(fragment.id, deletions));
        }
    }
    files
}

fn add_files_below(folder: &LocalPath, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files_below(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Syncs files side by side: one journal commit of the file system then serves all who wait for it.
pub fn sync_all(files: &[PathBuf]) -> Result<()> {
    const THREADS_MAX: usize = 16;
    if files.len() <= 1 {
        return files.iter().try_for_each(|file| sync(file));
    }
    let share = files.len().div_ceil(THREADS_MAX);
    std::thread::scope(|scope| {
        let workers: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().try_for_each(|file| sync(file))))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            let panicked = |_| Err(Error::other("a syncing thread panicked"));
            worker.join().unwrap_or_else(panicked)
        })
    })
}

fn sync(path: &LocalPath) -> Result<()> {
    let named =
        |error: Error| Error::new(error.kind(), format!("sync {}: {error}", path.display()));
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(named)
}
