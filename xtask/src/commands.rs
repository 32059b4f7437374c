//! The commands as a table: one row each, so that the help text is complete.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::{bench, cargo, check, node_env, process, python_env, tidy};

/// One command: the word after `cargo xtask`.
pub(crate) struct XtaskCommand {
    pub(crate) name: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) does: &'static str,
    run: fn(&[String]) -> Result<ExitCode>,
}

pub(crate) const COMMANDS: &[XtaskCommand] = &[
    XtaskCommand {
        name: "check",
        usage: "check [--only PART | --from PART | --list]",
        does: "run every check that a change must pass, each within its time budget",
        run: check::run,
    },
    XtaskCommand {
        name: "tidy",
        usage: "tidy [--spec]",
        does: "check source rules and the specification; --spec lists spec items and their tests",
        run: tidy::run,
    },
    XtaskCommand {
        name: "explore",
        usage: "explore [ARGS]",
        does: "explore every interleaving of the core within bounds; --mutants plants bugs",
        run: explore,
    },
    XtaskCommand {
        name: "simulate",
        usage: "simulate [ARGS]",
        does: "run the real driver in a seeded simulation with faults",
        run: simulate,
    },
    XtaskCommand {
        name: "torture",
        usage: "torture [ARGS]",
        does: "kill and freeze real processes at random instants, then audit the store",
        run: torture,
    },
    XtaskCommand {
        name: "attack",
        usage: "attack [--subset] [--seed N]",
        does: "attack the real binary in every variant; the last line counts what held",
        run: attack,
    },
    XtaskCommand {
        name: "bench",
        usage: "bench [NAME [ARGS]]",
        does: "run one benchmark; without a name, list all benchmarks",
        run: bench::run,
    },
    XtaskCommand {
        name: "sdk",
        usage: "sdk",
        does: "run the cases of both Agent SDKs against the binary of the check; installs them first",
        run: sdk,
    },
    XtaskCommand {
        name: "dashboard",
        usage: "dashboard",
        does: "rebuild the dashboard, compare it, and test it in a browser; installs what it needs",
        run: dashboard,
    },
    XtaskCommand {
        name: "acp",
        usage: "acp",
        does: "run editors made with the official ACP libraries against the binary of the check; installs them first",
        run: acp,
    },
    XtaskCommand {
        name: "real-model",
        usage: "real-model",
        does: "test the adapters against a small real model; downloads 125 MB the first time",
        run: real_model,
    },
    XtaskCommand { name: "help", usage: "help", does: "print this list", run: help },
];

/// Runs the command that the words name; without words, prints the help text.
pub(crate) fn dispatch(words: &[String]) -> Result<ExitCode> {
    let Some((name, rest)) = words.split_first() else {
        return help(&[]);
    };
    match find_command(name) {
        Some(command) => (command.run)(rest),
        None => bail!("unknown command `{name}`\n\n{}", help_text()),
    }
}

fn find_command(name: &str) -> Option<&'static XtaskCommand> {
    let name = if matches!(name, "--help" | "-h") { "help" } else { name };
    COMMANDS.iter().find(|command| command.name == name)
}

/// The help text, with one line for each command.
pub(crate) fn help_text() -> String {
    let width = COMMANDS.iter().map(|command| command.usage.len()).max().unwrap_or_default();
    let mut text = String::from("usage: cargo xtask COMMAND\n");
    for XtaskCommand { usage, does, .. } in COMMANDS {
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

fn attack(arguments: &[String]) -> Result<ExitCode> {
    process::run_all(&cargo::attack(arguments))
}

fn sdk(_: &[String]) -> Result<ExitCode> {
    process::run_all(&[python_env::sdk_test_steps()?, node_env::sdk_test_steps()?].concat())
}

fn dashboard(_: &[String]) -> Result<ExitCode> {
    process::run_all(&node_env::dashboard_test_steps()?)
}

fn acp(_: &[String]) -> Result<ExitCode> {
    process::run_all(&[python_env::acp_test_steps()?, node_env::acp_test_steps()?].concat())
}

fn real_model(_: &[String]) -> Result<ExitCode> {
    process::run_all(&python_env::real_model_steps()?)
}
