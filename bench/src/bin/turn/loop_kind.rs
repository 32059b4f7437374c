//! The contenders of one turn.

use std::path::Path;

use anyhow::{Result, bail};
use windlass_bench::{bare_loop, reqwest_loop};

use crate::adapter_loop;

/// The contender that does the task.
#[derive(Clone)]
pub(crate) enum LoopKind {
    Usual(reqwest_loop::ReqwestLoop),
    Bare(bare_loop::BareLoop),
    Ours(adapter_loop::AdapterLoop),
}

impl LoopKind {
    pub(crate) fn new(name: &str, url: &str) -> Result<Self> {
        Ok(match name {
            "usual" => {
                Self::Usual(reqwest_loop::ReqwestLoop::new(url, reqwest_loop::HttpVersion::One)?)
            }
            "usual-h2" => {
                Self::Usual(reqwest_loop::ReqwestLoop::new(url, reqwest_loop::HttpVersion::Two)?)
            }
            "bare" => Self::Bare(bare_loop::BareLoop::new(url)),
            "pooled" => Self::Bare(bare_loop::BareLoop::with_pooled_client(url)),
            "ours" => Self::Ours(adapter_loop::AdapterLoop::new(url)?),
            other => bail!("unknown contender {other}"),
        })
    }

    /// Runs one conversation.
    pub(crate) async fn converse(&self, turns: usize, file: &Path) -> Result<()> {
        match self {
            Self::Usual(usual) => usual.converse(turns, file).await,
            Self::Bare(bare) => bare.converse(turns, file).await,
            Self::Ours(ours) => ours.converse(turns, file).await,
        }
    }
}
