//! Metrics, read by Prometheus' own tool.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::http_client::read_to_close;
use crate::server_process::{ServerHome, ServerProcess, wait_until};

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

/// A running Prometheus, killed with the test.
struct Prometheus {
    child: Child,
    address: String,
}

impl Prometheus {
    /// Starts Debian's Prometheus with the example of `deploy/`, made to scrape this server.
    #[expect(clippy::disallowed_methods, reason = "the test runs the real program")]
    fn start(home: &ServerHome, server: &ServerProcess, token: &str) -> Self {
        let deploy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");
        let token_file = home.path("windlass-token");
        std::fs::write(&token_file, token).unwrap();
        std::fs::copy(format!("{deploy}/alerts.yml"), home.path("alerts.yml")).unwrap();
        let example = std::fs::read_to_string(format!("{deploy}/prometheus.yml")).unwrap();
        let config = example
            .replace("/etc/prometheus/windlass-token", token_file.to_str().unwrap())
            .replace("127.0.0.1:7878", &server.address)
            .replace("scrape_interval: 15s", "scrape_interval: 1s\n    scrape_timeout: 1s");
        std::fs::write(home.path("prometheus.yml"), config).unwrap();
        // It cannot choose a port itself.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", home.path("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", home.path("tsdb").display()))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect(
                "`prometheus` is needed; `cargo xtask check server` installs it (Debian package \
                 prometheus)",
            );
        Self { child, address }
    }

    /// Asks its API; `null` while it starts.
    fn get(&self, path: &str) -> Value {
        let Ok(mut stream) = TcpStream::connect(&self.address) else { return Value::Null };
        let request = format!("GET /api/v1/{path} HTTP/1.0\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let answer = read_to_close(&mut stream);
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_default()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_the_server() {
    let home = ServerHome::new(ECHO);
    let args = ["token", "add", "prometheus", "--all-tenants", "--scope", "read"];
    let made = home.run(&[&args[..], &["--store", "w.db"]].concat());
    let token = String::from_utf8(made.stdout).unwrap();
    let server = home.serve(&[]);
    let prometheus = Prometheus::start(&home, &server, token.trim());
    assert_eq!(server.post("/v1/conversations", &json!({"prompt": "hello"})).status, 202);
    let query = |name: &str| {
        let answered = prometheus.get(&format!("query?query={name}"));
        answered["data"]["result"][0]["value"][1].as_str().map(str::to_owned)
    };
    wait_until("the prompt in Prometheus", || {
        query("windlass_prompts_accepted_total").as_deref() == Some("1")
    });
    let finished = "windlass_runs_finished_total%7Bcause%3D%22end_turn%22%7D";
    wait_until("the run in Prometheus", || query(finished).as_deref() == Some("1"));
    assert_eq!(query("up").as_deref(), Some("1"));
    let targets = prometheus.get("targets");
    assert_eq!(targets["data"]["activeTargets"][0]["lastError"], "", "{targets}");
    let rules = prometheus.get("rules");
    let groups = rules["data"]["groups"].as_array().unwrap();
    let rules: Vec<&Value> =
        groups.iter().flat_map(|group| group["rules"].as_array().unwrap()).collect();
    assert!(!rules.is_empty() && rules.iter().all(|rule| rule["lastError"].is_null()), "{rules:?}");
}
