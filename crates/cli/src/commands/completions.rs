//! `windlass completions`: what a shell needs to complete commands and flags.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Args;
use crate::look::args::CompletionsArgs;

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut written = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "windlass", &mut written);
    // A reader that went away is not an error.
    let _ = io::stdout().write_all(&written);
    Ok(ExitCode::SUCCESS)
}
