//! What really happened: one line per effect, in a file the store knows nothing of.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::plan::Effect;

/// The ledger of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    path: PathBuf,
}

impl Ledger {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its lines; none if nothing happened yet.
    pub(crate) fn lines(&self) -> Result<Vec<String>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| format!("the ledger {}", self.path.display())),
        }
    }

    /// Whether the effect happened.
    pub(crate) fn has(&self, effect: &Effect) -> Result<bool> {
        Ok(self.lines()?.contains(&effect.line))
    }
}
