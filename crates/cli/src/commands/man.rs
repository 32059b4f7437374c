//! `windlass man`: the manual page, made from the flags themselves.

use std::process::ExitCode;

use clap::{Command, CommandFactory};

use crate::args::Args;
use crate::exit::OrUsageError;
use crate::look::acts;
use crate::look::args::ManArgs;
use crate::show;

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut whole = Args::command();
    whole.build();
    let page = match &args.command {
        None => whole,
        Some(name) => of(&whole, name)?,
    };
    let mut written = Vec::new();
    clap_mangen::Man::new(page).render(&mut written)?;
    show::bytes(&written);
    Ok(ExitCode::SUCCESS)
}

fn of(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name);
    let found = found.cloned().ok_or_else(|| anyhow::anyhow!(acts::no_command(name)));
    found.or_usage_error()
}
