//! The identity of a folder that tools work in. Conversations with file tools are continued only by
//! processes that have the same workspace.
//!
//! A *portable* id is a random UUID in a file inside the folder, so it travels with it: a second
//! machine with the same volume, or a restarted container, has the same workspace. It must be read
//! only in a folder that somebody trusts: whoever wrote the folder chose it. A *local* id is made of
//! the host name and the path.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::raw::sha256_hex;

use crate::ports::ServedWorkspace;

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod workspace_tests;

/// A local id that would be longer is made of a hash.
const MAX_LOCAL_ID: usize = 400;

/// Bytes of an id file that are read: a UUID and a line end.
const MAX_ID_BYTES: u64 = 64;

const ID_FILE: &str = "workspace-id";

/// A folder that tools work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The id that conversations begun here get.
    id: Arc<str>,
    /// Other ids that it can serve.
    also: Vec<Arc<str>>,
    path: PathBuf,
}

impl Workspace {
    /// A folder under its local id: the host name and the path.
    #[must_use]
    pub fn local(folder: &Path) -> Self {
        Self { id: Arc::from(local_id(folder)), also: Vec::new(), path: folder.to_path_buf() }
    }

    /// A folder that somebody trusts, under its portable id. The id is made if there is none; where
    /// that is not possible, the folder goes by its local id.
    #[must_use]
    pub fn trusted(folder: &Path) -> Self {
        let local = Self::local(folder);
        match portable_id(folder) {
            Ok(id) => local.known_as(&id),
            Err(_) => local,
        }
    }

    /// The same folder under another id; it still serves conversations of the ids it had.
    #[must_use]
    pub fn known_as(mut self, id: &str) -> Self {
        let before = std::mem::replace(&mut self.id, Arc::from(id));
        self.also.push(before);
        self
    }

    /// The id that conversations begun here get.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every id that it can serve.
    #[must_use]
    pub fn ids(&self) -> Vec<Arc<str>> {
        [&self.id].into_iter().chain(&self.also).cloned().collect()
    }

    /// What a worker says that it serves.
    pub(crate) fn served(&self) -> Vec<ServedWorkspace> {
        let (host, path) = (Arc::from(host_name()), Arc::from(self.path.to_string_lossy()));
        let served =
            |id: Arc<str>| ServedWorkspace { id, host: Arc::clone(&host), path: Arc::clone(&path) };
        self.ids().into_iter().map(served).collect()
    }
}

/// The name of this machine.
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

/// The id in the folder; a new one is written if there is none.
fn portable_id(folder: &Path) -> io::Result<String> {
    let place = id_folder(folder)?;
    match read_id(&place.join(ID_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_id(&place),
        found => found,
    }
}

/// Inside `.git`, which nobody commits. A linked worktree, where `.git` is a file, is a folder of its
/// own and has an id of its own, like a folder without git.
fn id_folder(folder: &Path) -> io::Result<PathBuf> {
    let git = folder.join(".git");
    if fs::symlink_metadata(&git).is_ok_and(|found| found.is_dir()) {
        let own = git.join("windlass");
        make_private_folder(&own)?;
        return Ok(own);
    }
    let own = folder.join(".windlass");
    if make_private_folder(&own)? {
        // The folder ignores itself, so that the id is not committed by accident.
        write_new(&own.join(".gitignore"), "*\n")?;
    }
    Ok(own)
}

/// Whether the folder was made; a link or anything else in its place is an error.
fn make_private_folder(folder: &Path) -> io::Result<bool> {
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

/// Written under another name first: a second process sees the whole id or none. Of two that make one
/// at the same moment, the first counts for both.
fn make_id(place: &Path) -> io::Result<String> {
    let id = uuid::Uuid::now_v7().to_string();
    let draft = place.join(format!("{ID_FILE}.{id}"));
    write_new(&draft, &format!("{id}\n"))?;
    let linked = fs::hard_link(&draft, place.join(ID_FILE));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => read_id(&place.join(ID_FILE)),
    }
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o644).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Never through a link, never from anything but a file, and only a UUID.
fn read_id(file: &Path) -> io::Result<String> {
    if !fs::symlink_metadata(file)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut text = String::new();
    File::open(file)?.take(MAX_ID_BYTES).read_to_string(&mut text)?;
    let id = uuid::Uuid::parse_str(text.trim()).map_err(io::Error::other)?;
    Ok(id.to_string())
}
