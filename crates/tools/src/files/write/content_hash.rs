//! Content hashes of files, to notice later changes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use sha2::{Digest, Sha256};
use windlass_core::message::raw_json::sha256_hex;

use crate::limits::MAX_EDIT_BYTES;

const BUFFER_BYTES: usize = 64 * 1024;

/// Returns the hash of an open file and rewinds it. `None` for a file that is too large to be
/// edited anyway.
pub(crate) fn hash_file(file: &mut File) -> io::Result<Option<String>> {
    let bytes = file.metadata()?.len();
    if bytes > MAX_EDIT_BYTES {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    // Most files are small. One more byte shows that nothing follows.
    let limit = usize::try_from(bytes).unwrap_or(BUFFER_BYTES).saturating_add(1);
    let mut buffer = vec![0; limit.min(BUFFER_BYTES)];
    let mut limited = (&mut *file).take(MAX_EDIT_BYTES + 1);
    let mut read = 0_u64;
    loop {
        let count = limited.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.update(buffer.get(..count).unwrap_or_default());
        read = read.saturating_add(count as u64);
    }
    file.seek(SeekFrom::Start(0))?;
    Ok((read <= MAX_EDIT_BYTES).then(|| hex::encode(hash.finalize())))
}

/// Returns the hash of contents in memory.
pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}
