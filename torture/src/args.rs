//! Command-line arguments.

use std::fmt;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Kills windlass processes and audits what they leave behind.
#[derive(Debug, Clone, Parser)]
#[command(name = "windlass-torture")]
pub(crate) struct TortureArgs {
    /// The binary to torture, built with its feature `faults`
    #[arg(long, value_name = "FILE")]
    pub(crate) bin: PathBuf,
    /// Where the conversations live
    #[arg(long, value_enum, default_value_t = StoreKind::Sqlite)]
    pub(crate) store: StoreKind,
    /// Processes to kill
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) kills: u64,
    /// What the plans and the faults are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Conversations tortured at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jobs: u64,
    /// Breaks the binary on purpose: the audit must notice
    #[arg(long = "break", value_enum)]
    pub(crate) broken: Option<BrokenPromise>,
    /// Keeps stores, ledgers and output in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Does not first prove that broken binaries are caught
    #[arg(long)]
    pub(crate) no_self_test: bool,
}

impl TortureArgs {
    /// Returns whether the self-test runs first: a clean result means nothing unless a broken
    /// binary is caught.
    pub(crate) fn should_self_test(&self) -> bool {
        self.broken.is_none() && !self.no_self_test
    }
}

/// Where the conversations live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    /// Two SQLite files, shared by all processes.
    Sqlite,
    /// A PostgreSQL of its own, cut off, crashed and frozen meanwhile.
    Postgres,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite => formatter.write_str("sqlite"),
            Self::Postgres => formatter.write_str("postgres"),
        }
    }
}

/// A promise the binary is told to break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BrokenPromise {
    /// Appends ignore epoch and head.
    Fence,
    /// What was started is not stored.
    Envelope,
    /// Lanes are taken from owners that live.
    Lease,
}

impl BrokenPromise {
    /// The name of the promise, as the binary knows it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fence => "fence",
            Self::Envelope => "envelope",
            Self::Lease => "lease",
        }
    }
}
