//! The folders a campaign works in: stores, and one place per conversation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::ledger::Ledger;
use crate::plan::Plan;
use crate::store::Where;

/// Databases, each shared by many conversations.
const STORES: u64 = 2;

/// Where a campaign works.
#[derive(Debug)]
pub(crate) struct Ground {
    root: PathBuf,
    temporary: Option<TempDir>,
    /// None: files of its own.
    servers: Vec<Where>,
}

/// Where one conversation works.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// All of it.
    pub(crate) folder: PathBuf,
    /// Where its tools run; whoever works here is a process of ours.
    pub(crate) work: PathBuf,
    /// The database its lane is in.
    pub(crate) store: Where,
    /// What its effects leave.
    pub(crate) ledger: Ledger,
    /// What its processes print.
    pub(crate) output: PathBuf,
}

impl Ground {
    /// A new folder, under `keep` if that is given.
    pub(crate) fn new(keep: Option<&Path>, name: &str, servers: Vec<Where>) -> Result<Self> {
        let ground = match keep {
            Some(keep) => Self { root: fresh(&keep.join(name))?, temporary: None, servers },
            None => {
                let temporary = tempfile::Builder::new().prefix("windlass-torture-").tempdir();
                let temporary = temporary.context("no temporary folder can be made")?;
                let root = temporary.path().canonicalize()?;
                Self { root, temporary: Some(temporary), servers }
            }
        };
        fs::create_dir_all(ground.root.join("runs"))?;
        Ok(ground)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn stores(&self) -> impl Iterator<Item = Where> {
        (0..STORES).map(|number| self.store(number))
    }

    fn store(&self, number: u64) -> Where {
        let server = usize::try_from(number).ok().and_then(|number| self.servers.get(number));
        let file = || Where::File(self.root.join(format!("store-{number}.db")));
        server.cloned().unwrap_or_else(file)
    }

    /// Makes the place of the `number`-th conversation, with something to read in it.
    pub(crate) fn place(&self, number: u64, plan: &Plan) -> Result<Place> {
        let folder = self.root.join("runs").join(&plan.conversation);
        let work = folder.join("work");
        fs::create_dir_all(&work).with_context(|| format!("the folder {}", work.display()))?;
        for file in 0..plan.files() {
            fs::write(work.join(note(file)), format!("note {file} of {}\n", plan.conversation))?;
        }
        Ok(Place {
            work,
            store: self.store(number % STORES),
            ledger: Ledger::at(folder.join("ledger")),
            output: folder.join("output"),
            folder,
        })
    }

    /// A place nobody needs any more, unless everything is kept.
    pub(crate) fn clear(&self, place: &Place) -> Result<()> {
        if self.temporary.is_some() {
            fs::remove_dir_all(&place.folder)?;
        }
        Ok(())
    }

    /// Leaves the folder where it is, for whoever looks into it.
    pub(crate) fn keep(mut self) -> PathBuf {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
        self.root.clone()
    }
}

fn fresh(root: &Path) -> Result<PathBuf> {
    let what = || format!("the folder {} cannot be made anew", root.display());
    if root.exists() {
        fs::remove_dir_all(root).with_context(what)?;
    }
    fs::create_dir_all(root).with_context(what)?;
    root.canonicalize().with_context(what)
}

/// The name of a file to read.
pub(crate) fn note(file: u64) -> String {
    format!("note-{file}.txt")
}
