//! Arguments of the benchmark.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreEngine {
    Sqlite,
    Memory,
    Postgres,
}

pub(crate) struct StoreBenchArgs {
    pub(crate) engine: StoreEngine,
    pub(crate) seconds: u64,
    pub(crate) folder: PathBuf,
}

impl StoreBenchArgs {
    pub(crate) fn parse() -> Result<Self> {
        // Beside the sources, because the temporary folder may be in memory.
        let folder = std::env::current_dir()?;
        let mut asked = Self { engine: StoreEngine::Sqlite, seconds: 2, folder };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            asked.set(&word, &value)?;
        }
        Ok(asked)
    }

    fn set(&mut self, word: &str, value: &str) -> Result<()> {
        match (word, value) {
            ("--store", "sqlite") => self.engine = StoreEngine::Sqlite,
            ("--store", "memory") => self.engine = StoreEngine::Memory,
            ("--store", "postgres") => self.engine = StoreEngine::Postgres,
            ("--seconds", _) => self.seconds = value.parse().context("--seconds is a number")?,
            ("--folder", _) => self.folder = PathBuf::from(value),
            _ => bail!(
                "{word} {value}: use --store sqlite|memory|postgres, --seconds N, --folder PATH"
            ),
        }
        Ok(())
    }
}

impl fmt::Display for StoreEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "sqlite",
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        })
    }
}
