//! Files of this process that are locked by `fcntl`. POSIX releases all locks that a process has on a
//! file when it closes *any* descriptor of that file. So whatever else in this process opens and
//! closes the file of a store takes the locks away from it, and another process may then remove its
//! write-ahead log. Stores register such files; tools do not open them.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Device and inode, which identify a file whatever its path.
type FileIdentity = (u64, u64);

/// How often each file was registered. The locks belong to the process, and so does this.
static LOCKED: Mutex<Option<HashMap<FileIdentity, usize>>> = Mutex::new(None);

/// A file that is registered until this is dropped.
#[derive(Debug)]
pub struct LockedFile {
    identity: FileIdentity,
}

impl LockedFile {
    /// Registers a file that this process has locked.
    #[must_use]
    pub fn register(file: &Metadata) -> Self {
        let identity = identity_of(file);
        *locked().get_or_insert_default().entry(identity).or_default() += 1;
        Self { identity }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let mut locked = locked();
        let files = locked.get_or_insert_default();
        if let Some(count) = files.get_mut(&self.identity) {
            *count -= 1;
            if *count == 0 {
                files.remove(&self.identity);
            }
        }
    }
}

/// Returns whether this process has locked a file, which it must not open otherwise.
#[must_use]
pub fn is_locked_file(file: &Metadata) -> bool {
    locked().as_ref().is_some_and(|files| files.contains_key(&identity_of(file)))
}

fn identity_of(file: &Metadata) -> FileIdentity {
    (file.dev(), file.ino())
}

fn locked() -> MutexGuard<'static, Option<HashMap<FileIdentity, usize>>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}
