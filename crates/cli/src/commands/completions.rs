//! `windlass completions`: prints the completion script of a shell.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::CliArgs;
use crate::args::inspect_args::CompletionsArgs;
use crate::terminal;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut written = Vec::new();
    clap_complete::generate(args.shell, &mut CliArgs::command(), "windlass", &mut written);
    terminal::print_bytes(&written);
    Ok(ExitCode::SUCCESS)
}
