//! The logins of MCP servers, in a file that only its user can read. A token is kept for the server
//! that it was issued for.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass::mcp::{LoginStore, StoredLogin};
use windlass::tools::read_following_links;

use super::private_file;
use crate::config::paths;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The file version that this program writes and reads.
const VERSION: u32 = 1;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginFile {
    version: u32,
    /// By the URL of the server.
    logins: BTreeMap<String, StoredLogin>,
}

/// The logins of the user.
#[derive(Debug, Default)]
pub(crate) struct RecordedLogins;

impl RecordedLogins {
    /// Removes the login for a server; returns whether there was one.
    pub(crate) fn remove(&self, resource: &str) -> Result<bool, String> {
        change(|file| file.logins.remove(resource).is_some())
    }
}

impl LoginStore for RecordedLogins {
    fn load(&self, resource: &str) -> Result<Option<StoredLogin>, String> {
        Ok(read()?.logins.remove(resource))
    }

    fn save(&self, login: &StoredLogin) -> Result<(), String> {
        change(|file| {
            file.logins.insert(login.resource.clone(), login.clone());
        })
    }
}

fn path() -> Result<PathBuf, String> {
    let folder = paths::state_folder().map_err(|error| error.to_string())?;
    Ok(folder.join("mcp-logins.json"))
}

fn change<T>(change: impl FnOnce(&mut LoginFile) -> T) -> Result<T, String> {
    let path = path()?;
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let _lock = private_file::lock(&path.with_extension("lock")).map_err(failed)?;
    let mut file = read()?;
    let result = change(&mut file);
    let text = serde_json::to_string_pretty(&file).map_err(|error| error.to_string())?;
    private_file::write(&path, &text).map_err(failed)?;
    Ok(result)
}

fn read() -> Result<LoginFile, String> {
    let path = path()?;
    let shown = path.display();
    let file = read_following_links(&path, MAX_FILE_BYTES)
        .and_then(|begun| begun.map(|begun| begun.into_text(MAX_FILE_BYTES)).transpose());
    let Some(text) = file.map_err(|why| format!("the file {shown} {why}"))? else {
        return Ok(LoginFile { version: VERSION, ..LoginFile::default() });
    };
    if std::fs::metadata(&path).is_ok_and(|found| found.mode() & 0o077 != 0) {
        return Err(format!("{shown} can be read by other users; run `chmod 600 {shown}`"));
    }
    let file: LoginFile = serde_json::from_str(&text)
        .map_err(|error| format!("{shown} is not valid ({error}); remove it and log in again"))?;
    match file.version {
        VERSION => Ok(file),
        other => Err(format!("{shown} has version {other}, which is newer than this program")),
    }
}
