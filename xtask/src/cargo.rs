//! Every cargo command line this crate issues.
//!
//! The commands and the parts of `check` share these functions, so what passes alone is what
//! passes in the check.

use anyhow::Result;

use crate::invocation::Invocation;
use crate::workspace;

pub(crate) fn format() -> Vec<Invocation> {
    vec![cargo(&["fmt", "--all", "--check"])]
}

pub(crate) fn clippy() -> Vec<Invocation> {
    let scope = ["clippy", "--workspace", "--all-targets", "--profile", "ci"];
    vec![cargo(&scope).with(&["--", "-D", "warnings"].map(str::to_owned))]
}

pub(crate) fn test() -> Vec<Invocation> {
    vec![cargo(&["test", "--workspace", "--profile", "ci"]), crash_points()]
}

/// The tests that die at every write boundary of the stores: the switches they need are in no other
/// build.
fn crash_points() -> Invocation {
    let test = ["test", "-p", "windlass-store", "--features", "faults", "--profile", "ci"];
    let which = ["--test", "all", "--", "sqlite_faults::", "postgres_points::"];
    cargo(&test).with(&which.map(str::to_owned))
}

pub(crate) fn document() -> Vec<Invocation> {
    let command = cargo(&["doc", "--workspace", "--no-deps", "--profile", "ci"]);
    vec![command.setting("RUSTDOCFLAGS", "-D warnings")]
}

pub(crate) fn explore(arguments: &[String]) -> Vec<Invocation> {
    vec![release_binary("windlass-sim", "explore", arguments)]
}

pub(crate) fn simulate(arguments: &[String]) -> Vec<Invocation> {
    vec![release_binary("windlass-sim", "simulate", arguments)]
}

pub(crate) fn bench(name: &str, arguments: &[String]) -> Result<Vec<Invocation>> {
    let run = release_binary("windlass-bench", name, arguments);
    Ok(match (name, arguments) {
        ("cli", []) => measured_binary(run)?,
        ("takeover", _) => working_binary(run)?,
        _ => vec![run],
    })
}

/// The binary as it is given to people, beside the bare loop of another benchmark.
fn measured_binary(run: Invocation) -> Result<Vec<Invocation>> {
    Ok(vec![
        cargo(&["build", "--profile", "dist", "-p", "windlass-cli"]),
        cargo(&["build", "--release", "-p", "windlass-bench", "--bin", "turn"]),
        run.with(&binary_of("dist")?),
    ])
}

/// The binary as worker processes that come and go.
fn working_binary(run: Invocation) -> Result<Vec<Invocation>> {
    let build = cargo(&["build", "--release", "-p", "windlass-cli"]);
    Ok(vec![build, run.with(&binary_of("release")?)])
}

fn binary_of(profile: &str) -> Result<[String; 2]> {
    let binary = workspace::target_folder()?.join(profile).join("windlass");
    Ok(["--bin".to_owned(), binary.display().to_string()])
}

/// Torture kills the real binary, built with the fault switches that `--break` turns on.
pub(crate) fn torture(arguments: &[String]) -> Result<Vec<Invocation>> {
    let victim = workspace::target_folder()?.join("release").join("windlass");
    let build = cargo(&["build", "--release", "-p", "windlass-cli", "--features", "faults"]);
    let run = cargo(&["run", "--release", "-q", "-p", "windlass-torture", "--"])
        .with(&["--bin".to_owned(), victim.display().to_string()])
        .with(arguments);
    Ok(vec![build, run])
}

/// The binary that the tests of the workspace have built already.
pub(crate) fn binary_for_checks() -> Invocation {
    cargo(&["build", "--profile", "ci", "-p", "windlass-cli"])
}

/// The program that asks a real model through our adapters.
pub(crate) fn real_model_example() -> Invocation {
    cargo(&["build", "-p", "windlass-providers", "--example", "real_model"])
}

fn release_binary(package: &str, binary: &str, arguments: &[String]) -> Invocation {
    cargo(&["run", "--release", "-q", "-p", package, "--bin", binary, "--"]).with(arguments)
}

fn cargo(arguments: &[&str]) -> Invocation {
    Invocation::new("cargo", arguments)
}
