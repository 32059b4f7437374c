//! Start of a confined process, compared with `unshare` and the same namespaces
//!
//! Both start `/bin/true`, one after the other, so that load on the machine meets both.

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use windlass_bench::time_stats::{current_time, load_average, median};
use windlass_runtime::ports::{LaunchPurpose, LaunchRequest, ProcessLauncher};
use windlass_sandbox::{Policy, SandboxLauncher, run_if_requested};

/// Starts of each kind.
const STARTS: usize = 300;

#[expect(clippy::disallowed_methods, reason = "a benchmark starts processes of its own")]
fn main() -> Result<ExitCode> {
    if let Some(code) = run_if_requested() {
        return Ok(code);
    }
    println!("load average: {}", load_average());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut confined, mut unshared, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let mut policy = Policy::read_only();
    policy.write.push(std::env::current_dir()?);
    let launcher = SandboxLauncher::new(policy);
    for _ in 0..STARTS {
        confined.push(time_ms(|| runtime.block_on(start_confined(&launcher)))?);
        unshared.push(time_ms(start_unshared)?);
        plain.push(time_ms(|| run(&mut Command::new("/bin/true")))?);
    }
    let [confined, unshared, plain] = [confined, unshared, plain].map(median);
    println!("nothing: {plain:.2} ms (median of {STARTS})");
    println!("unshare with the same namespaces: {unshared:.2} ms");
    println!("the sandbox: {confined:.2} ms");
    println!("the sandbox costs {:.2} ms more than unshare (aim: 2)", confined - unshared);
    Ok(ExitCode::SUCCESS)
}

fn time_ms(start: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = current_time();
    start()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

async fn start_confined(launcher: &SandboxLauncher) -> Result<()> {
    let request = LaunchRequest::new(LaunchPurpose::Command, "/bin/true", "/");
    let mut started = launcher.launch(request).await?;
    let status = started.handle.wait().await?;
    started.handle.end().await;
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}

/// User, process, mount, IPC and network namespaces with a `/proc` of their own.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts processes of its own")]
fn start_unshared() -> Result<()> {
    let flags = ["-U", "-r", "-p", "-f", "-m", "-i", "-n", "--mount-proc"];
    run(Command::new("unshare").args(flags).arg("/bin/true"))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().context("cannot start a process")?;
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}
