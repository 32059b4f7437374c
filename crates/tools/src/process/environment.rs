//! The environment of commands: an allowlist, because harmful variables cannot all be listed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables that say who and where a person is, and where their tools are installed. None of them
/// makes a program run or load something that its name does not already stand for.
const ALLOWED_VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "JAVA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "ANDROID_HOME",
    "DOTNET_ROOT",
];

/// Default `PATH`.
pub(super) const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Environment variables for a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CommandEnvironment(Vec<(OsString, OsString)>);

impl CommandEnvironment {
    /// Returns the allowed part of this process's own environment.
    pub(crate) fn from_process() -> Self {
        Self::from_allowed(std::env::vars_os())
    }

    /// Returns the allowed part of `variables`. Variables of loaders, shell start files, git and
    /// language runtimes control what they run, so those are removed.
    pub(super) fn from_allowed(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let path = (OsString::from("PATH"), OsString::from(DEFAULT_PATH));
        let dumb = (OsString::from("TERM"), OsString::from("dumb"));
        let allowed = variables.filter(|(name, _)| is_allowed(name)).map(clean_path);
        let mut all: Vec<_> = allowed.chain([dumb]).collect();
        if !all.iter().any(|(name, _)| name == "PATH") {
            all.push(path);
        }
        Self(all)
    }

    /// Adds a variable. No variable can contain a NUL, so a NUL is replaced.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let value = OsString::from(value.replace('\0', "\u{fffd}"));
        self.0.retain(|(known, _)| known != name);
        self.0.push(clean_path((OsString::from(name), value)));
        self
    }

    /// Returns the value of a variable.
    pub(crate) fn get(&self, wanted: &str) -> Option<&OsStr> {
        self.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
    }

    /// Iterates over the variables.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Removes relative and empty entries of `PATH`, which mean another folder in every workspace.
fn clean_path((name, value): (OsString, OsString)) -> (OsString, OsString) {
    if name != "PATH" {
        return (name, value);
    }
    let folders = std::env::split_paths(&value).filter(|folder| Path::is_absolute(folder));
    let cleaned = std::env::join_paths(folders).unwrap_or_default();
    let cleaned = if cleaned.is_empty() { OsString::from(DEFAULT_PATH) } else { cleaned };
    (name, cleaned)
}

fn is_allowed(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| ALLOWED_VARIABLES.contains(&name) || name.starts_with("LC_"))
}
