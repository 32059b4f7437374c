//! `windlass man`: prints the manual page, generated from the flags.

use std::process::ExitCode;

use clap::{Command, CommandFactory};

use crate::args::CliArgs;
use crate::args::inspect_args::ManArgs;
use crate::exit::OrUsageError;
use crate::{messages, terminal};

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut whole = CliArgs::command();
    whole.build();
    let page = match &args.command {
        None => whole,
        Some(name) => find_command(&whole, name)?,
    };
    let mut written = Vec::new();
    clap_mangen::Man::new(page).render(&mut written)?;
    terminal::print_bytes(&written);
    Ok(ExitCode::SUCCESS)
}

fn find_command(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name);
    let found =
        found.cloned().ok_or_else(|| anyhow::anyhow!(messages::action::unknown_man_page(name)));
    found.or_usage_error()
}
