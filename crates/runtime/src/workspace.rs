//! The identity of a folder that tools work in. Conversations with file tools are continued only by
//! processes that have the same workspace.
//!
//! A *portable* id is a random UUID in a file inside the folder, so that it moves with the folder:
//! a second machine with the same volume, or a restarted container, has the same workspace. It must
//! only be read in a trusted folder, because the content of the folder determines it. A *local* id
//! is made of the host name and the path.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::message::raw_json::sha256_hex;

use crate::ports::ServedWorkspace;

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod workspace_tests;

/// The length above which a local id is replaced by a hash.
const MAX_LOCAL_ID: usize = 400;

/// The number of bytes of an id file that are read: a UUID and a line end.
const MAX_ID_BYTES: u64 = 64;

const ID_FILE: &str = "workspace-id";

/// A folder that tools work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The id that conversations started here get.
    id: Arc<str>,
    /// Other ids that the folder serves.
    other_ids: Vec<Arc<str>>,
    path: PathBuf,
}

impl Workspace {
    /// Returns the folder under its local id: the host name and the path.
    #[must_use]
    pub fn from_folder(folder: &Path) -> Self {
        Self { id: Arc::from(local_id(folder)), other_ids: Vec::new(), path: folder.to_path_buf() }
    }

    /// Returns a trusted folder under its portable id, which is created if there is none; where
    /// that is not possible, the folder gets its local id.
    #[must_use]
    pub fn from_trusted_folder(folder: &Path) -> Self {
        let local = Self::from_folder(folder);
        match portable_id(folder) {
            Ok(id) => local.with_id(&id),
            Err(_) => local,
        }
    }

    /// Gives the folder another id; it still serves conversations of the ids it had.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Self {
        let before = std::mem::replace(&mut self.id, Arc::from(id));
        self.other_ids.push(before);
        self
    }

    /// Returns the id that conversations started here get.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns every id that the folder serves.
    #[must_use]
    pub fn ids(&self) -> Vec<Arc<str>> {
        [&self.id].into_iter().chain(&self.other_ids).cloned().collect()
    }

    /// The workspaces that a worker announces.
    pub(crate) fn served_workspaces(&self) -> Vec<ServedWorkspace> {
        let (host, path) = (Arc::from(host_name()), Arc::from(self.path.to_string_lossy()));
        let served =
            |id: Arc<str>| ServedWorkspace { id, host: Arc::clone(&host), path: Arc::clone(&path) };
        self.ids().into_iter().map(served).collect()
    }
}

/// Returns the name of this machine.
#[must_use]
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn local_id(folder: &Path) -> String {
    let (host, folder) = (host_name(), folder.to_string_lossy());
    if host.len() + folder.len() < MAX_LOCAL_ID {
        return format!("{host}:{folder}");
    }
    format!("{}:{}", host.get(..64).unwrap_or_default(), sha256_hex(folder.as_bytes()))
}

/// The portable id in the folder; a new one is written if there is none.
fn portable_id(folder: &Path) -> io::Result<String> {
    let id_folder = id_folder(folder)?;
    match read_id(&id_folder.join(ID_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_id(&id_folder),
        found => found,
    }
}

/// The folder of the id file: inside `.git`, which is not committed. A linked worktree, where
/// `.git` is a file, is a folder of its own and has an id of its own, like a folder without git.
fn id_folder(folder: &Path) -> io::Result<PathBuf> {
    let git = folder.join(".git");
    if fs::symlink_metadata(&git).is_ok_and(|found| found.is_dir()) {
        let own = git.join("windlass");
        create_own_folder(&own)?;
        return Ok(own);
    }
    let own = folder.join(".windlass");
    if create_own_folder(&own)? {
        // The folder ignores itself, so that the id is not committed by accident.
        write_new(&own.join(".gitignore"), "*\n")?;
    }
    Ok(own)
}

/// Creates the folder and returns whether it was created; a link or anything else under that name
/// is an error.
fn create_own_folder(folder: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o755).create(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match fs::symlink_metadata(folder)?.is_dir() {
                true => Ok(false),
                false => Err(io::Error::other("not a folder")),
            }
        }
        Err(error) => Err(error),
    }
}

/// Creates an id. It is written under another name first, so that a second process sees the whole
/// id or none. If two processes create one at the same time, the first one counts for both.
fn create_id(folder: &Path) -> io::Result<String> {
    let id = uuid::Uuid::now_v7().to_string();
    let draft = folder.join(format!("{ID_FILE}.{id}"));
    write_new(&draft, &format!("{id}\n"))?;
    let linked = fs::hard_link(&draft, folder.join(ID_FILE));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => read_id(&folder.join(ID_FILE)),
    }
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o644).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Reads an id: never through a link, only from a regular file, and only a UUID.
fn read_id(file: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(file)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut text = String::new();
    File::open(file)?.take(MAX_ID_BYTES).read_to_string(&mut text)?;
    let id = uuid::Uuid::parse_str(text.trim()).map_err(io::Error::other)?;
    Ok(id.to_string())
}
