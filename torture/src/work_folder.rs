//! Folders of a campaign: stores, and one folder per conversation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::observe::effect_ledger::EffectLedger;
use crate::observe::store::StoreLocation;
use crate::plan::conversation_plan::ConversationPlan;

/// Number of databases, each shared by many conversations.
const STORE_COUNT: u64 = 2;

/// The folder of a campaign.
#[derive(Debug)]
pub(crate) struct WorkFolder {
    root: PathBuf,
    temporary: Option<TempDir>,
    /// Databases on servers; empty if the stores are files in the folder.
    servers: Vec<StoreLocation>,
}

/// The folder of one conversation.
#[derive(Debug, Clone)]
pub(crate) struct ConversationFolder {
    /// The whole folder.
    pub(crate) folder: PathBuf,
    /// Where its tools run; every process that works here belongs to the campaign.
    pub(crate) work: PathBuf,
    /// The store of its lane.
    pub(crate) store: StoreLocation,
    /// The ledger of its effects.
    pub(crate) ledger: EffectLedger,
    /// The file with the output of its processes.
    pub(crate) output: PathBuf,
}

impl WorkFolder {
    /// Creates a new folder, under `keep` if that is given.
    pub(crate) fn new(
        keep: Option<&Path>,
        name: &str,
        servers: Vec<StoreLocation>,
    ) -> Result<Self> {
        let ground = match keep {
            Some(keep) => Self { root: create_root(&keep.join(name))?, temporary: None, servers },
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

    pub(crate) fn stores(&self) -> impl Iterator<Item = StoreLocation> {
        (0..STORE_COUNT).map(|number| self.store(number))
    }

    fn store(&self, number: u64) -> StoreLocation {
        let server = usize::try_from(number).ok().and_then(|number| self.servers.get(number));
        let file = || StoreLocation::File(self.root.join(format!("store-{number}.db")));
        server.cloned().unwrap_or_else(file)
    }

    /// Creates the folder of the `number`-th conversation, with files to read in it.
    pub(crate) fn create_place(
        &self,
        number: u64,
        plan: &ConversationPlan,
    ) -> Result<ConversationFolder> {
        let folder = self.root.join("runs").join(&plan.conversation);
        let work = folder.join("work");
        fs::create_dir_all(&work).with_context(|| format!("the folder {}", work.display()))?;
        for file in 0..plan.files() {
            fs::write(
                work.join(note_name(file)),
                format!("note {file} of {}\n", plan.conversation),
            )?;
        }
        Ok(ConversationFolder {
            work,
            store: self.store(number % STORE_COUNT),
            ledger: EffectLedger::new(folder.join("ledger")),
            output: folder.join("output"),
            folder,
        })
    }

    /// Removes the folder of a finished conversation, unless kept.
    pub(crate) fn remove_place(&self, place: &ConversationFolder) -> Result<()> {
        if self.temporary.is_some() {
            fs::remove_dir_all(&place.folder)?;
        }
        Ok(())
    }

    /// Keeps the folder for inspection.
    pub(crate) fn keep_folder(mut self) -> PathBuf {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
        self.root.clone()
    }
}

fn create_root(root: &Path) -> Result<PathBuf> {
    let what = || format!("cannot recreate the folder {}", root.display());
    if root.exists() {
        fs::remove_dir_all(root).with_context(what)?;
    }
    fs::create_dir_all(root).with_context(what)?;
    root.canonicalize().with_context(what)
}

/// The name of a file to read.
pub(crate) fn note_name(file: u64) -> String {
    format!("note-{file}.txt")
}
