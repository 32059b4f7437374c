//! The flags of `windlass scripted`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Where the scripted model listens.
#[derive(Debug, ClapArgs)]
pub(crate) struct ScriptedArgs {
    /// Answer from this script
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// Listen on this port; 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Listen on this loopback address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: String,
}
