//! Every cargo command line this crate issues.
//!
//! The commands and the parts of `check` share these functions, so what passes alone is what
//! passes in the check.

use anyhow::Result;

use crate::invocation::Invocation;
use crate::workspace;

pub(crate) fn format() -> Vec<Invocation> {
    vec![cargo_invocation(&["fmt", "--all", "--check"])]
}

pub(crate) fn clippy() -> Vec<Invocation> {
    let all = ["clippy", "--workspace", "--all-targets", "--profile", "ci"];
    // The library without its optional parts must build without a warning too.
    let least = ["clippy", "--package", "windlass", "--no-default-features", "--profile", "ci"];
    let deny = |scope: &[&str]| {
        cargo_invocation(scope).with_arguments(&["--", "-D", "warnings"].map(str::to_owned))
    };
    vec![deny(&all), deny(&least)]
}

pub(crate) fn test() -> Vec<Invocation> {
    vec![cargo_invocation(&["test", "--workspace", "--profile", "ci"]), crash_point_tests()]
}

/// The tests that die at every write boundary of the stores: the fault switches they need are in no
/// other build.
fn crash_point_tests() -> Invocation {
    let test = ["test", "-p", "windlass-store", "--features", "faults", "--profile", "ci"];
    let which = ["--test", "all", "--", "sqlite_faults::", "postgres_points::"];
    cargo_invocation(&test).with_arguments(&which.map(str::to_owned))
}

/// The session at a terminal, alone: killed 50 times, measured with strict limits, and given random
/// keys for a minute.
///
/// The bound on keystrokes is for a build without optimisations on a busy machine: it finds what makes
/// the session slow. The aim of 16 ms is measured by hand with a release build.
pub(crate) fn terminal() -> Vec<Invocation> {
    let test = ["test", "-p", "windlass-cli", "--profile", "ci", "--test", "session"];
    let which = [
        "--",
        "--nocapture",
        "--test-threads",
        "1",
        "durability::",
        "performance::",
        "random_keys::",
    ];
    let run = cargo_invocation(&test).with_arguments(&which.map(str::to_owned));
    let run = run.with_variable("SESSION_KILLS", "50").with_variable("SESSION_P99_MS", "60");
    vec![run.with_variable("SESSION_KEYS_SECONDS", "60")]
}

/// The tests of `windlass serve`. They run as a part of their own, not with the others.
pub(crate) fn server_tests() -> Vec<Invocation> {
    let command = ["test", "--package", "windlass-cli", "--test", "server", "--profile", "ci"];
    vec![cargo_invocation(&command)]
}

/// Attacks on the real binary, all of them or a subset.
pub(crate) fn attack(arguments: &[String]) -> Vec<Invocation> {
    let command =
        ["test", "--package", "windlass-cli", "--test", "attack", "--profile", "ci", "--"];
    vec![cargo_invocation(&command).with_arguments(arguments)]
}

pub(crate) fn document() -> Vec<Invocation> {
    let command = cargo_invocation(&["doc", "--workspace", "--no-deps", "--profile", "ci"]);
    vec![command.with_variable("RUSTDOCFLAGS", "-D warnings")]
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
        ("cli", []) => cli_bench_steps(run)?,
        ("takeover", _) | ("mcp", []) => takeover_bench_steps(run)?,
        _ => vec![run],
    })
}

/// The release binary, and the bare loop of another benchmark.
fn cli_bench_steps(run: Invocation) -> Result<Vec<Invocation>> {
    Ok(vec![
        cargo_invocation(&["build", "--profile", "dist", "-p", "windlass-cli"]),
        cargo_invocation(&["build", "--release", "-p", "windlass-bench", "--bin", "turn"]),
        run.with_arguments(&binary_argument("dist")?),
    ])
}

/// The binary as worker processes, which are started and stopped.
fn takeover_bench_steps(run: Invocation) -> Result<Vec<Invocation>> {
    let build = cargo_invocation(&["build", "--release", "-p", "windlass-cli"]);
    Ok(vec![build, run.with_arguments(&binary_argument("release")?)])
}

fn binary_argument(profile: &str) -> Result<[String; 2]> {
    let binary = workspace::target_folder()?.join(profile).join("windlass");
    Ok(["--bin".to_owned(), binary.display().to_string()])
}

/// Builds and runs torture: it kills the real binary, built with the fault switches that `--break`
/// turns on.
pub(crate) fn torture(arguments: &[String]) -> Result<Vec<Invocation>> {
    let victim = workspace::target_folder()?.join("release").join("windlass");
    let build =
        cargo_invocation(&["build", "--release", "-p", "windlass-cli", "--features", "faults"]);
    let run = cargo_invocation(&["run", "--release", "-q", "-p", "windlass-torture", "--"])
        .with_arguments(&["--bin".to_owned(), victim.display().to_string()])
        .with_arguments(arguments);
    Ok(vec![build, run])
}

/// Builds the binary, which the tests of the workspace have built already.
pub(crate) fn binary_for_checks() -> Invocation {
    cargo_invocation(&["build", "--profile", "ci", "-p", "windlass-cli"])
}

/// The example that calls a real model through our adapters.
pub(crate) fn real_model_example() -> Invocation {
    cargo_invocation(&["build", "-p", "windlass-providers", "--example", "real_model"])
}

fn release_binary(package: &str, binary: &str, arguments: &[String]) -> Invocation {
    cargo_invocation(&["run", "--release", "-q", "-p", package, "--bin", binary, "--"])
        .with_arguments(arguments)
}

fn cargo_invocation(arguments: &[&str]) -> Invocation {
    Invocation::new("cargo", arguments)
}
