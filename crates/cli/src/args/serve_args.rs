//! Arguments of `windlass serve`.

#[path = "token_args.rs"]
mod token_args;

pub(crate) use token_args::{ScopeArg, TokenArgs, TokenCommand};

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{AgentArgs, ResumePolicyArg};

/// How the API is served.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// Listen on this address; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) listen: SocketAddr,
    /// Require the token in this file, which only its owner may read [default: server-token in the
    /// state folder, created with a random token]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve HTTPS with this certificate chain, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Use this private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Accept requests for this host too, `HOST` or `HOST:PORT`; may be given several times
    #[arg(long = "allowed-host", value_name = "HOST")]
    pub(crate) allowed_hosts: Vec<String>,
    /// Serve other machines over plain HTTP, for instance behind a proxy that speaks HTTPS
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// Answer at most N requests per second for each token (1 to 1000000)
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) requests_per_second: u32,
    /// Open the dashboard in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Serve only, and leave the runs to `windlass worker` processes
    #[arg(long)]
    pub(crate) no_worker: bool,
    /// Wait N seconds after SIGTERM for running tool calls to finish (0 to 3600)
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=3_600))]
    pub(crate) grace_seconds: u64,
    /// Choose whether interrupted runs are resumed automatically [default: from the profile of each run]
    #[arg(long, value_name = "POLICY", value_enum)]
    pub(crate) resume: Option<ResumePolicyArg>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// Which dashboard is opened.
#[derive(Debug, ClapArgs)]
pub(crate) struct DashboardArgs {
    /// Open the dashboard of this server [default: the one that was started last on this machine]
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Use the token in this file [default: server-token in the state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print the address with the token and open nothing
    #[arg(long)]
    pub(crate) no_open: bool,
}
