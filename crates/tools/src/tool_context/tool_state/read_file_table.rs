//! Table of files that were read, with content hashes. It is one file with a slot for each:
//! recording writes into it, where a note per file would be a new file and often a new folder,
//! which costs far more than reading the file itself.
//!
//! The table has 256 buckets, by the first byte of the hash of a path. A bucket is one block; its
//! slots are filled newest first, so the oldest are evicted.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::limits::MAX_READ_FILES_PER_BUCKET;

/// The size of a slot: the hash of a path, and the hash of the file's contents.
const SLOT_BYTES: usize = 64;

const BUCKET_BYTES: usize = SLOT_BYTES * MAX_READ_FILES_PER_BUCKET;

/// A SHA-256 hash.
type Sha256Hash = [u8; 32];

type TableSlot = [u8; SLOT_BYTES];

/// The table of one conversation.
pub(super) struct ReadFileTable {
    pub(super) table: PathBuf,
}

impl ReadFileTable {
    /// Records that `path` was read with these contents.
    pub(super) fn record_hash(&self, path: &Path, contents: &str) -> io::Result<()> {
        let (path, contents) = (path_hash(path), parse_hash(contents)?);
        let table = self.open_to_write()?;
        // Two concurrent reads may update one bucket. Where a file cannot be locked, one of them
        // may be lost, which costs a second read.
        table.lock().unwrap_or_default();
        let part = read_bucket(&table, &path)?;
        // The same file is often read again, and comparing is cheaper than writing.
        if find_hash(&part, &path) == Some(contents) {
            return Ok(());
        }
        let others = part.iter().filter(|place| !place.starts_with(&path) && is_used(place));
        let mut bytes = [path, contents].concat();
        bytes.extend(others.take(MAX_READ_FILES_PER_BUCKET - 1).flatten());
        bytes.resize(BUCKET_BYTES, 0);
        table.write_all_at(&bytes, bucket_offset(&path))
    }

    /// Returns the hash of the contents with which `path` was last read.
    pub(super) fn hash_for(&self, path: &Path) -> Option<String> {
        let path = path_hash(path);
        let table = File::open(&self.table).ok()?;
        find_hash(&read_bucket(&table, &path).ok()?, &path).map(hex::encode)
    }

    fn open_to_write(&self) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        match options.open(&self.table) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                super::create_private_folder(self.table.parent().unwrap_or(Path::new("/")))?;
                options.open(&self.table)
            }
            opened => opened,
        }
    }
}

fn parse_hash(text: &str) -> io::Result<Sha256Hash> {
    let mut hash = Sha256Hash::default();
    hex::decode_to_slice(text, &mut hash).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(hash)
}

fn path_hash(path: &Path) -> Sha256Hash {
    Sha256::digest(path.as_os_str().as_bytes()).into()
}

fn bucket_offset(path: &Sha256Hash) -> u64 {
    u64::from(path[0]) * BUCKET_BYTES as u64
}

/// Reads the bucket of a path. One that was never written is empty.
fn read_bucket(table: &File, path: &Sha256Hash) -> io::Result<Vec<TableSlot>> {
    let mut bytes = [0; BUCKET_BYTES];
    table.read_at(&mut bytes, bucket_offset(path))?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn find_hash(part: &[TableSlot], path: &Sha256Hash) -> Option<Sha256Hash> {
    let place = part.iter().find(|place| place.starts_with(path))?;
    place.last_chunk().copied()
}

fn is_used(place: &TableSlot) -> bool {
    *place != [0; SLOT_BYTES]
}
