//! Access tokens: 256 random bits as text, of which the server keeps only the hash.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

#[cfg(test)]
#[path = "token_tests.rs"]
mod token_tests;

/// The beginning of every generated token, by which scanners for secrets know it.
const TOKEN_PREFIX: &str = "wl_";

/// The number of random bytes of a generated token.
const TOKEN_BYTES: usize = 32;

/// The fewest characters of a token that was not generated here.
const MIN_TOKEN_CHARS: usize = 32;

/// The most characters of a token.
const MAX_TOKEN_CHARS: usize = 512;

/// A token that gives access to the API. It is never shown: `Debug` prints no part of it.
#[derive(Clone)]
pub struct AccessToken {
    hash: [u8; 32],
}

/// Why there is no token to start with.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file of the token cannot be read or written.
    #[error("cannot use the token file {} ({source}); choose another with --token-file", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Others can read the file.
    #[error("the token file {} can be read by others; run `chmod 600` on it", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a token.
    #[error("the token in {} is not one line of {MIN_TOKEN_CHARS} to {MAX_TOKEN_CHARS} printable characters; replace it by a long random text", path.display())]
    NotAToken {
        /// The file.
        path: PathBuf,
    },
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

impl AccessToken {
    /// Creates the token with this text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self { hash: Sha256::digest(text.as_bytes()).into() }
    }

    /// Reads the token of a file, which must be private.
    ///
    /// # Errors
    ///
    /// Returns a [`TokenError`] if the file cannot be read, can be read by others, or holds no
    /// token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::File { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.mode() & 0o077 != 0 {
            return Err(TokenError::NotPrivate { path: path.to_owned() });
        }
        let mut text = String::new();
        let limit = MAX_TOKEN_CHARS as u64 + 2;
        Read::by_ref(&mut file).take(limit).read_to_string(&mut text).map_err(failed)?;
        let text = text.trim_end_matches(['\r', '\n']);
        match is_token(text) {
            true => Ok(Self::from_text(text)),
            false => Err(TokenError::NotAToken { path: path.to_owned() }),
        }
    }

    /// Reads the token of a file, which is created with a new random token if there is none.
    ///
    /// # Errors
    ///
    /// Returns a [`TokenError`] like [`AccessToken::read`], or if the file cannot be created.
    pub fn read_or_create(path: &Path) -> Result<Self, TokenError> {
        match create_private_file(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(TokenError::File { path: path.to_owned(), source }),
        }
        Self::read(path)
    }

    /// Returns whether a client presented this token. The time it takes does not depend on where
    /// they differ.
    pub(crate) fn matches(&self, presented: &str) -> bool {
        let presented: [u8; 32] = Sha256::digest(presented.as_bytes()).into();
        let difference = self.hash.iter().zip(presented).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(difference) == 0
    }
}

fn is_token(text: &str) -> bool {
    (MIN_TOKEN_CHARS..=MAX_TOKEN_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Creates a file with a new random token that only its owner can read. The file appears complete:
/// another process that starts at the same time reads the same token.
fn create_private_file(path: &Path) -> io::Result<()> {
    if path.try_exists()? {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", uuid::Uuid::now_v7()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = writeln!(file, "{}", random_token()?).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| std::fs::hard_link(&draft, path));
    std::fs::remove_file(&draft)?;
    linked
}

/// A new token: 256 bits of the system's random number generator.
pub(crate) fn random_token() -> io::Result<String> {
    Ok(format!("{TOKEN_PREFIX}{}", hex::encode(random_bytes()?)))
}

/// 256 bits of the system's random number generator.
pub(crate) fn random_bytes() -> io::Result<[u8; TOKEN_BYTES]> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The hash under which a token is stored.
pub(crate) fn hash_token(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
