//! The commands of `windlass token`.

use clap::{Args, Subcommand, ValueEnum};

use crate::args::StoreArgs;

/// What to do with the tokens of the API.
#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token and print it; it cannot be shown again
    Add {
        /// What it is for
        name: String,
        /// Let it see the conversations of this tenant only [default: default]
        #[arg(long, value_name = "TENANT", conflicts_with = "all_tenants")]
        tenant: Option<String>,
        /// Let it see all tenants, for operators and for Prometheus
        #[arg(long)]
        all_tenants: bool,
        /// Let it do this; may be given several times [default: read]
        #[arg(long = "scope", value_name = "SCOPE", value_enum)]
        scopes: Vec<ScopeArg>,
        /// Let it expire after N days [default: never]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3_650))]
        expires_in_days: Option<u64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List tokens, without their texts
    List {
        /// Only those of this tenant
        #[arg(long, value_name = "TENANT")]
        tenant: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Revoke a token: servers refuse it within a second
    Revoke {
        /// The id of the token, as `list` shows it
        token_id: String,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Limit what a tenant may use; a limit that is not given is removed
    Limit {
        /// The tenant
        tenant: String,
        /// Let N prompts wait to be taken by a worker
        #[arg(long, value_name = "N")]
        queued_prompts: Option<u64>,
        /// Drive N conversations at once
        #[arg(long, value_name = "N")]
        active_runs: Option<u64>,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Read conversations, runs and questions
    Read,
    /// Send prompts, and cancel, resume and fork runs
    Prompt,
    /// Answer questions, and so approve calls
    Answer,
    /// Everything, with the tokens and webhooks of the tenant
    Admin,
}

impl TokenCommand {
    /// Where the tokens are.
    pub(crate) fn store(&self) -> &StoreArgs {
        match self {
            Self::Add { store, .. }
            | Self::List { store, .. }
            | Self::Revoke { store, .. }
            | Self::Limit { store, .. } => store,
        }
    }
}
