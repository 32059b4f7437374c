//! The commands as data: one row each, so that help cannot forget one.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{bench, cargo, check, process, python, tidy};

/// One word after `cargo xtask`.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) does: &'static str,
    run: fn(&[String]) -> Result<ExitCode>,
}

pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "check",
        usage: "check [--only PART | --from PART | --list]",
        does: "everything that must pass before a change is in, each part within its time budget",
        run: check::run,
    },
    Command {
        name: "tidy",
        usage: "tidy [--spec]",
        does: "the house rules that are plain text; --spec lists the promises and their tests",
        run: tidy::run,
    },
    Command {
        name: "explore",
        usage: "explore [ARGS]",
        does: "walk every interleaving of the core within bounds; --mutants plants bugs",
        run: explore,
    },
    Command {
        name: "simulate",
        usage: "simulate [ARGS]",
        does: "the real driver in a seeded, hostile world",
        run: simulate,
    },
    Command {
        name: "torture",
        usage: "torture [ARGS]",
        does: "real processes, killed and frozen at random instants, then audited",
        run: torture,
    },
    Command {
        name: "bench",
        usage: "bench [NAME [ARGS]]",
        does: "run one benchmark; without a name, list them",
        run: bench::run,
    },
    Command {
        name: "real-model",
        usage: "real-model",
        does: "a small real model answers our adapters; fetches 125 MB the first time",
        run: real_model,
    },
    Command { name: "help", usage: "help", does: "this list", run: help },
];

/// Runs the command the words name; no words ask for help.
pub(crate) fn dispatch(words: &[String]) -> Result<ExitCode> {
    let Some((name, rest)) = words.split_first() else {
        return help(&[]);
    };
    match find(name) {
        Some(command) => (command.run)(rest),
        None => bail!("there is no command `{name}`\n\n{}", help_text()),
    }
}

fn find(name: &str) -> Option<&'static Command> {
    let name = if matches!(name, "--help" | "-h") { "help" } else { name };
    COMMANDS.iter().find(|command| command.name == name)
}

/// One line for each command.
pub(crate) fn help_text() -> String {
    let width = COMMANDS.iter().map(|command| command.usage.len()).max().unwrap_or_default();
    let mut text = String::from("usage: cargo xtask COMMAND\n");
    for Command { usage, does, .. } in COMMANDS {
        text.push_str(&format!("\n  {usage:width$}  {does}"));
    }
    text
}

fn help(_: &[String]) -> Result<ExitCode> {
    println!("{}", help_text());
    Ok(ExitCode::SUCCESS)
}

fn explore(arguments: &[String]) -> Result<ExitCode> {
    process::run_all(&cargo::explore(arguments))
}

fn simulate(arguments: &[String]) -> Result<ExitCode> {
    process::run_all(&cargo::simulate(arguments))
}

fn torture(arguments: &[String]) -> Result<ExitCode> {
    process::run_all(&cargo::torture(arguments)?)
}

fn real_model(_: &[String]) -> Result<ExitCode> {
    process::run_all(&python::real_model()?)
}
