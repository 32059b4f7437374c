//! What is measured: one job, done by each contender in its own way.

use std::path::Path;

use anyhow::{Result, bail};
use windlass_bench::bare_loop::BareLoop;
use windlass_bench::reqwest_loop::{HttpVersion, ReqwestLoop};

use crate::library_loop::{LibraryLoop, StoreKind};

/// The contenders in the order of the tables. The first is the floor of the ratios.
pub(crate) const NAMES: [&str; 4] = ["usual", "bare", "memory", "sqlite"];

#[derive(Clone)]
pub(crate) enum Contender {
    Usual(ReqwestLoop),
    Bare(BareLoop),
    Library(LibraryLoop),
}

impl Contender {
    /// Makes a contender whose conversations have this many turns with a tool. `folder` is where a
    /// durable one keeps its store.
    pub(crate) async fn new(name: &str, url: &str, turns: usize, folder: &Path) -> Result<Self> {
        let ending_url = format!("{url}/turns/{turns}");
        Ok(match name {
            "usual" => Self::Usual(ReqwestLoop::new(url, HttpVersion::One)?),
            "bare" => Self::Bare(BareLoop::new(url)),
            "memory" => Self::Library(LibraryLoop::new(&ending_url, StoreKind::Memory).await?),
            "sqlite" => {
                Self::Library(LibraryLoop::new(&ending_url, StoreKind::Sqlite(folder)).await?)
            }
            other => bail!("unknown contender {other}"),
        })
    }

    /// Runs one conversation: a request for every turn with a tool, and one for the answer.
    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        match self {
            Self::Usual(usual) => usual.converse(turns + 1, file).await,
            Self::Bare(bare) => bare.converse(turns + 1, file).await,
            Self::Library(library) => library.converse(turns, file).await,
        }
    }
}
