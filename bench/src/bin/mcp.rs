//! MCP servers: overhead of a call, 1,000 conversations with one server, start-up with ten servers
//!
//! The server is this program itself. Times are of a shared machine: compare within one run.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::ids::{CallId, LaneId};
use windlass::core::message::raw_json::RawJson;
use windlass::core::permission::CallSubject;
use windlass::mcp::{FirstSeenApprovals, McpServerConfig, McpServers, McpServices, SpecOptions};
use windlass::memory::MemoryStore;
use windlass::ports::{CallContext, CallHeartbeat, Clock, ProgressReporter};
use windlass::scripted::Script;
use windlass::{SystemClock, Windlass};
use windlass_bench::time_stats::{cpu_time, current_time, load_average, median, minimum};
use windlass_runtime::UnconfinedLauncher;

/// Round trips that are measured.
const ROUND_TRIPS: u32 = 5_000;

/// Conversations that share a server.
const CONVERSATIONS: usize = 1_000;

/// Servers of a run that starts.
const SERVERS: usize = 10;

/// Runs that are measured with and without servers.
const STARTS: usize = 15;

/// How long a slow server takes to start.
const SLOW: Duration = Duration::from_millis(1_500);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--serve"] => serve(Duration::ZERO),
        ["--serve-slowly"] => serve(SLOW),
        [] => measure(&own_sibling("windlass")?),
        ["--bin", path] => measure(&PathBuf::from(path)),
        other => bail!("`{}`: the only option is --bin FILE", other.join(" ")),
    }
}

fn measure(binary: &Path) -> Result<()> {
    println!("load average: {}", load_average());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let bare = bare_round_trip().await?;
        let call = call_of_a_tool().await?;
        println!("round trip of JSON-RPC over pipes: {bare:.1} µs");
        println!("call of an MCP tool: {call:.1} µs, {:.1} µs more", call - bare);
        many_conversations().await
    })?;
    start_up(binary)?;
    println!("load average afterwards: {}", load_average());
    Ok(())
}

/// Answers requests until the end of the input.
#[expect(clippy::disallowed_methods, reason = "a slow server waits")]
fn serve(pause: Duration) -> Result<()> {
    std::thread::sleep(pause);
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut calls = 0;
    for line in input.lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let result = match message.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "bench", "version": "1"},
            }),
            Some("tools/list") => {
                json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
            }
            Some("tools/call") => {
                calls += 1;
                json!({"content": [{"type": "text", "text": format!("call {calls}")}]})
            }
            _ => continue,
        };
        writeln!(
            output,
            "{}",
            json!({"jsonrpc": "2.0", "id": message.get("id"), "result": result})
        )?;
        output.flush()?;
    }
    Ok(())
}

/// Microseconds of a request and its answer over the pipes of a process, with nothing around it.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts processes of its own")]
async fn bare_round_trip() -> Result<f64> {
    let mut child = tokio::process::Command::new(std::env::current_exe()?)
        .arg("--serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut input = child.stdin.take().context("no input")?;
    let mut output = BufReader::new(child.stdout.take().context("no output")?).lines();
    let began = current_time();
    for id in 0..ROUND_TRIPS {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {}}});
        input.write_all(format!("{call}\n").as_bytes()).await?;
        let line = output.next_line().await?.context("it ended")?;
        let answer: Value = serde_json::from_str(&line)?;
        ensure!(answer.get("id") == Some(&json!(id)), "another answer");
    }
    Ok(micros_each(began.elapsed()))
}

/// Microseconds of a call through the tool that a run calls.
async fn call_of_a_tool() -> Result<f64> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let services = McpServices::new(Arc::clone(&clock), Arc::new(UnconfinedLauncher));
    let servers = McpServers::new(Arc::new(FirstSeenApprovals::default()), clock);
    let options = SpecOptions {
        workspace: std::env::temp_dir(),
        scope: "dynamic".to_owned(),
        authorization: None,
    };
    let spec = services.spec("it", &own_server("--serve")?, options);
    servers.add(spec.context("no specification")?);
    servers.wait_until_settled(10_000).await;
    let tool = servers.tools().get("mcp__it__echo").context("the server offers no tool")?;
    let began = current_time();
    for _ in 0..ROUND_TRIPS {
        let outcome = tool.run(call_context(), RawJson::encode(&json!({}))).await;
        ensure!(matches!(outcome, ToolOutcome::DoneWithDetail { .. }), "{outcome:?}");
    }
    Ok(micros_each(began.elapsed()))
}

fn call_context() -> CallContext {
    CallContext {
        answered_requests: Vec::new(),
        files: None,
        lane: LaneId::from("conversation:bench"),
        call: CallId { model_call: 1, index: 0 },
        idempotency_key: Arc::from("key"),
        attempt: 1,
        subject: CallSubject::Nothing,
        settings: None,
        heartbeat: CallHeartbeat::default(),
        progress: ProgressReporter::default(),
        access: Default::default(),
        sources: Default::default(),
    }
}

fn micros_each(elapsed: Duration) -> f64 {
    elapsed.as_secs_f64() * 1e6 / f64::from(ROUND_TRIPS)
}

/// Conversations at once, each with one call of the same server.
async fn many_conversations() -> Result<()> {
    let script = "when results 0\n  call mcp__it__echo {}\nwhen any\n  say \"${result}\"\n";
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(script)?)
        .store(MemoryStore::new())
        .mcp_server("it", own_server("--serve")?)
        .allow("mcp__it")
        .start()
        .await?;
    let (began, cpu) = (current_time(), cpu_time());
    let mut running = JoinSet::new();
    for number in 0..CONVERSATIONS {
        let session = windlass.session(format!("conversation:{number}"));
        running.spawn(async move {
            let run = session.send("go").await?;
            anyhow::Ok(run.wait_for_end().await?)
        });
    }
    let mut ended = 0;
    while let Some(outcome) = running.join_next().await {
        outcome??;
        ended += 1;
    }
    let (elapsed, cpu) = (began.elapsed(), cpu_time().saturating_sub(cpu));
    // The server counts its calls: the next one tells.
    let last = windlass.session("conversation:last").send("go").await?.wait_for_end().await?;
    let said = format!("{last:?}");
    let wanted = format!("call {}", CONVERSATIONS + 1);
    ensure!(said.contains(&wanted), "one process did not answer all calls: {said}");
    println!(
        "{ended} conversations, one server process: {:.0} ms, {:.0} µs CPU each",
        elapsed.as_secs_f64() * 1e3,
        cpu.as_secs_f64() * 1e6 / CONVERSATIONS as f64,
    );
    Ok(())
}

/// Whole runs with no servers and with ten that take their time, of which no tool is called.
#[expect(clippy::disallowed_methods, reason = "a benchmark starts processes of its own")]
fn start_up(binary: &Path) -> Result<()> {
    let home = tempfile::tempdir()?;
    std::fs::write(home.path().join("a.script"), "when any\n  say \"hi\"\n")?;
    let server = json!({"command": std::env::current_exe()?, "args": ["--serve-slowly"]});
    let servers: serde_json::Map<String, Value> =
        (0..SERVERS).map(|number| (format!("s{number}"), server.clone())).collect();
    let config = json!({"mcpServers": servers}).to_string();
    let run = |words: &[&str]| -> Result<f64> {
        let began = current_time();
        let status = Command::new(binary)
            .args(words)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("WINDLASS_HOME", home.path().join("state"))
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("{}; `cargo xtask bench mcp`", binary.display()))?;
        ensure!(status.success(), "the run failed");
        Ok(began.elapsed().as_secs_f64() * 1e3)
    };
    run(&["mcp", "list", "--mcp-config", &config])?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let prompt = ["-p", "hi", "--script", "a.script"];
        without.push(run(&prompt)?);
        with.push(run(&[&prompt[..], &["--mcp-config", &config]].concat())?);
    }
    println!(
        "a run without servers: {:.1} ms (least {:.1}); with {SERVERS} that take {:.1} s: {:.1} ms (least {:.1})",
        median(without.clone()),
        minimum(&without),
        SLOW.as_secs_f64(),
        median(with.clone()),
        minimum(&with),
    );
    Ok(())
}

fn own_server(mode: &str) -> Result<McpServerConfig> {
    let own = std::env::current_exe()?;
    Ok(McpServerConfig::stdio(&own.display().to_string(), &[mode]))
}

/// A binary of the same build.
fn own_sibling(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(own.parent().context("no folder")?.join(name))
}
