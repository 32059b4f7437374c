//! Metrics, read by Prometheus' own tool.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::server_process::{ServerHome, wait_until};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

/// Runs `promtool` with this input; returns what it says against it.
#[expect(clippy::disallowed_methods, reason = "the test runs the real tool")]
fn promtool(args: &[&str], input: &str) -> Result<(), String> {
    let mut command = Command::new("promtool");
    let started =
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = started.spawn().expect(
        "`promtool` is needed; `cargo xtask check server` installs it (Debian package prometheus)",
    );
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status.success() && output.stderr.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

#[test]
fn prometheus_reads_the_metrics_and_the_rules() {
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let sent = server.post("/v1/conversations", &json!({"prompt": "hello"})).json();
    let run = format!("/v1/runs/{}", sent["run_id"].as_str().unwrap());
    wait_until("the end of the run", || server.get(&run).json()["state"] == "completed");
    for _ in 0..3 {
        assert_eq!(server.get("/v1/runs/nothing").status, 404);
    }
    let finished = "windlass_runs_finished_total{cause=\"end_turn\"} 1";
    wait_until("the run is counted", || server.get("/metrics").body.contains(finished));
    let classic = server.get("/metrics");
    assert_eq!(classic.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(promtool(&["check", "metrics"], &classic.body), Ok(()), "{}", classic.body);
    for line in [
        "windlass_prompts_accepted_total 1",
        "windlass_store_up 1",
        "windlass_workers 1",
        "windlass_http_requests_total{method=\"GET\",route=\"/v1/runs/{run_id}\",status=\"4xx\"} 3",
    ] {
        assert!(classic.body.lines().any(|found| found == line), "{line}\n{}", classic.body);
    }
    // No id becomes a label.
    assert!(!classic.body.contains(sent["run_id"].as_str().unwrap()));
    let accept = [("accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")];
    let open = server.request_with("GET", "/metrics", &accept, None);
    assert!(open.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    assert!(open.body.ends_with("# EOF\n"), "{}", open.body);
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/alerts.yml");
    assert_eq!(promtool(&["check", "rules", rules], ""), Ok(()));
}
