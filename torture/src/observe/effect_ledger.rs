//! Ledger of the real effects: one line per effect, in a file outside of the store.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::plan::conversation_plan::PlannedEffect;

/// The effect ledger of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct EffectLedger {
    path: PathBuf,
}

impl EffectLedger {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the lines; none if there was no effect yet.
    pub(crate) fn read_lines(&self) -> Result<Vec<String>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).with_context(|| format!("the ledger {}", self.path.display())),
        }
    }

    /// Returns whether the effect happened.
    pub(crate) fn has_effect(&self, effect: &PlannedEffect) -> Result<bool> {
        Ok(self.read_lines()?.contains(&effect.line))
    }
}
