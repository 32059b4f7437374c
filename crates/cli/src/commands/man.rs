//! `windlass man`: the manual page, made from the flags themselves.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Command, CommandFactory};

use crate::args::Args;
use crate::look::acts;
use crate::look::args::ManArgs;

pub(crate) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut whole = Args::command();
    whole.build();
    let page = match &args.command {
        None => whole,
        Some(name) => of(&whole, name)?,
    };
    let mut written = Vec::new();
    clap_mangen::Man::new(page).render(&mut written)?;
    // A reader that went away is not an error.
    let _ = io::stdout().write_all(&written);
    Ok(ExitCode::SUCCESS)
}

fn of(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name);
    Ok(found.with_context(|| acts::no_command(name))?.clone())
}
