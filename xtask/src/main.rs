//! `cargo xtask`: the commands that check this workspace.
//!
//! Everyone compiles this crate before doing anything else, so it depends on std and `anyhow` only.
//! It starts other programs and reads text; it links nothing of Windlass, and therefore still
//! builds, and can report what is wrong, when the rest of the workspace does not compile.

mod bench;
mod cargo;
mod check;
mod clock;
mod commands;
mod invocation;
mod node_env;
mod postgres;
mod process;
mod prometheus;
mod python_env;
mod tidy;
mod workspace;

#[cfg(test)]
mod bench_tests;
#[cfg(test)]
mod cargo_tests;
#[cfg(test)]
mod commands_tests;
#[cfg(test)]
mod invocation_tests;
#[cfg(test)]
mod node_env_tests;
#[cfg(test)]
mod python_env_tests;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    commands::dispatch(&words).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
