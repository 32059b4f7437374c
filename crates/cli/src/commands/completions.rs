//! `windlass completions`: what a shell needs to complete commands and flags.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Args;
use crate::look::args::CompletionsArgs;
use crate::show;

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut written = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "windlass", &mut written);
    show::bytes(&written);
    Ok(ExitCode::SUCCESS)
}
