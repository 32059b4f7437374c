//! Which files were read, and as what. It is one file with a place for each: to remember is to write
//! into it, where a note of its own would be a new file and often a new folder, which costs far more
//! than reading what it is about.
//!
//! The file has 256 parts, by the first byte of the hash of a path. A part is one block; its places
//! are filled newest first, so the oldest go.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::hex::{self, Hash};
use crate::limits::MAX_SEEN;

/// The hash of a path, and the hash of what was in the file.
const PLACE_BYTES: usize = 64;

const PART_BYTES: usize = PLACE_BYTES * MAX_SEEN;

type Place = [u8; PLACE_BYTES];

/// What was seen in one conversation.
pub(super) struct Seen {
    pub(super) table: PathBuf,
}

impl Seen {
    /// Notes that `path` was seen with these contents.
    pub(super) fn note(&self, path: &Path, contents: &str) -> io::Result<()> {
        let (path, contents) = (hash_of(path), hex::parse(contents));
        let contents = contents.ok_or(io::ErrorKind::InvalidInput)?;
        let table = self.open_to_write()?;
        // Two reads at once may note in one part. Where a file cannot be locked, one of them may be
        // forgotten, which costs a second look.
        table.lock().unwrap_or_default();
        let part = part(&table, &path)?;
        // The same file is read again and again, and looking is cheaper than writing.
        if find(&part, &path) == Some(contents) {
            return Ok(());
        }
        let others = part.iter().filter(|place| !place.starts_with(&path) && has_something(place));
        let mut bytes = [path, contents].concat();
        bytes.extend(others.take(MAX_SEEN - 1).flatten());
        bytes.resize(PART_BYTES, 0);
        table.write_all_at(&bytes, offset(&path))
    }

    /// The hash of the contents as which `path` was last seen.
    pub(super) fn contents(&self, path: &Path) -> Option<String> {
        let path = hash_of(path);
        let table = File::open(&self.table).ok()?;
        find(&part(&table, &path).ok()?, &path).as_ref().map(hex::hex)
    }

    fn open_to_write(&self) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        match options.open(&self.table) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                super::private_folder(self.table.parent().unwrap_or(Path::new("/")))?;
                options.open(&self.table)
            }
            opened => opened,
        }
    }
}

fn hash_of(path: &Path) -> Hash {
    Sha256::digest(path.as_os_str().as_bytes()).into()
}

fn offset(path: &Hash) -> u64 {
    u64::from(path[0]) * PART_BYTES as u64
}

/// The part in which a path has its place. What was never written is empty.
fn part(table: &File, path: &Hash) -> io::Result<Vec<Place>> {
    let mut bytes = [0; PART_BYTES];
    table.read_at(&mut bytes, offset(path))?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn find(part: &[Place], path: &Hash) -> Option<Hash> {
    let place = part.iter().find(|place| place.starts_with(path))?;
    place.last_chunk().copied()
}

fn has_something(place: &Place) -> bool {
    place.iter().any(|byte| *byte != 0)
}
