//! The Landlock ruleset: which files can be read and written, and that signals and abstract sockets
//! stay within.
//!
//! Landlock allows folders with everything beneath them and cannot take anything out again. In
//! namespaces, mounts do that. Without them, a folder that holds a protected or denied path is
//! allowed entry by entry, so nothing new can be created in that folder itself.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::{Namespaces, NetworkAccess, Policy};

/// The newest version that is asked for.
const VERSION: ABI = ABI::V6;

/// Maximum number of entries of folders that are allowed one by one.
const MAX_ENTRIES: usize = 20_000;

/// Folders that are private in namespaces and can be written there.
const PRIVATE_FOLDERS: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"];

/// Devices that programs write.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx"];

/// Restricts this thread and what it executes; returns whether the kernel can.
pub(super) fn restrict(policy: &Policy, namespaces: Namespaces) -> io::Result<bool> {
    let status = ruleset(policy, namespaces)?.restrict_self().map_err(io::Error::other)?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

fn ruleset(policy: &Policy, namespaces: Namespaces) -> io::Result<RulesetCreated> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(VERSION)))
        .map_err(io::Error::other)?;
    let has_own_network = namespaces != Namespaces::None;
    if policy.network == NetworkAccess::None && !has_own_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(VERSION)).map_err(io::Error::other)?;
    }
    let mut created = ruleset.create().map_err(io::Error::other)?;
    let (read, all) = (AccessFs::from_read(VERSION), AccessFs::from_all(VERSION));
    let (denied, kept) = match namespaces {
        Namespaces::All | Namespaces::WithoutUser => (Vec::new(), Vec::new()),
        Namespaces::None => {
            (policy.deny_read.clone(), [&policy.deny_read[..], &policy.protect].concat())
        }
    };
    for path in without(Path::new("/"), &denied)?.iter().chain(&policy.read) {
        created = allow(created, path, read)?;
    }
    for root in &policy.write {
        for path in without(root, &kept)? {
            created = allow(created, &path, all)?;
        }
    }
    if namespaces != Namespaces::None {
        for folder in PRIVATE_FOLDERS {
            created = allow(created, Path::new(folder), all)?;
        }
    }
    for device in DEVICES {
        let access = read | AccessFs::WriteFile | AccessFs::IoctlDev;
        created = allow(created, Path::new(device), access)?;
    }
    Ok(created)
}

/// Allows a path, if it exists.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> io::Result<RulesetCreated> {
    let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    ruleset.add_rule(PathBeneath::new(opened, access)).map_err(io::Error::other)
}

/// Returns paths that hold everything beneath `folder` except the paths in `kept_out`.
fn without(folder: &Path, kept_out: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let (mut allowed, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = pending.pop() {
        if kept_out.iter().any(|out| path.starts_with(out)) {
            continue;
        }
        if !kept_out.iter().any(|out| out.starts_with(&path)) {
            allowed.push(path);
            continue;
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        // A link is no way in: what it leads to is allowed by its own path or not at all.
        let entries =
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        pending.extend(entries.map(|entry| entry.path()));
        if allowed.len() + pending.len() > MAX_ENTRIES {
            return Err(io::Error::other(format!("{} has too many entries", path.display())));
        }
    }
    Ok(allowed)
}
