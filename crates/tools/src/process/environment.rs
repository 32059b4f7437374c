//! What a command finds in its environment: an allowlist, because nobody can list what harms.

use std::ffi::{OsStr, OsString};
use std::path::Path;

const ALLOWED: &[&str] = &["PATH", "HOME", "LANG", "USER", "TMPDIR"];

/// Where programs are when nobody says.
pub(super) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables for a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The allowed part of this process's own environment.
    pub(crate) fn inherited() -> Self {
        Self::allowed_of(std::env::vars_os())
    }

    /// The allowed part of `variables`. Loaders, shell start files, git and language runtimes all
    /// take orders from theirs, so those stay behind.
    pub(super) fn allowed_of(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let path = (OsString::from("PATH"), OsString::from(PATH));
        let dumb = (OsString::from("TERM"), OsString::from("dumb"));
        let allowed = variables.filter(|(name, _)| is_allowed(name)).map(clean);
        let mut all: Vec<_> = allowed.chain([dumb]).collect();
        if !all.iter().any(|(name, _)| name == "PATH") {
            all.push(path);
        }
        Self(all)
    }

    /// The same and one more. No variable can hold a NUL, so a NUL is replaced.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let value = OsString::from(value.replace('\0', "\u{fffd}"));
        self.0.retain(|(known, _)| known != name);
        self.0.push(clean((OsString::from(name), value)));
        self
    }

    /// The value of a variable.
    pub(crate) fn get(&self, wanted: &str) -> Option<&OsStr> {
        self.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
    }

    /// The variables.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// A relative or empty entry of `PATH` means another folder in every workspace, so it is left out.
fn clean((name, value): (OsString, OsString)) -> (OsString, OsString) {
    if name != "PATH" {
        return (name, value);
    }
    let folders = std::env::split_paths(&value).filter(|folder| Path::is_absolute(folder));
    let cleaned = std::env::join_paths(folders).unwrap_or_default();
    let cleaned = if cleaned.is_empty() { OsString::from(PATH) } else { cleaned };
    (name, cleaned)
}

fn is_allowed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| ALLOWED.contains(&name) || name.starts_with("LC_"))
}
