//! `windlass man`: prints the manual page, generated from the flags, with sections that the flags do
//! not give.

use std::process::ExitCode;

use clap::{Command, CommandFactory};

use crate::args::CliArgs;
use crate::args::inspect_args::ManArgs;
use crate::exit::OrUsageError;
use crate::{messages, terminal};

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut whole = CliArgs::command();
    whole.build();
    let (page, rest) = match &args.command {
        None => (whole, messages::manual_sections()),
        Some(name) => (find_command(&whole, name)?, messages::see_also_section().to_owned()),
    };
    let mut written = Vec::new();
    clap_mangen::Man::new(page).render(&mut written)?;
    written.extend_from_slice(rest.as_bytes());
    terminal::print_bytes(&written);
    Ok(ExitCode::SUCCESS)
}

fn find_command(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name);
    let found =
        found.cloned().ok_or_else(|| anyhow::anyhow!(messages::action::unknown_man_page(name)));
    found.or_usage_error()
}
