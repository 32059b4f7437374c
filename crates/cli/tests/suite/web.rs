//! `WebFetch` and `WebSearch` through the real binary, against servers on this machine.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::test_home::TestHome;

/// Serves every request with what a function makes of its head; returns the port and the requests.
fn serve(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 8192];
            let read = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned();
            let _ = stream.write_all(answer(&head).as_bytes());
            kept.lock().unwrap().push(head);
        }
    });
    (port, heads)
}

fn page(kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn home(config: &str, script: &str) -> TestHome {
    let home = TestHome::new(script);
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", config);
    home
}

fn fetching(url: &str) -> String {
    format!(
        "when results 0\n  call WebFetch {{\"url\": \"{url}\"}}\nwhen any\n  say \"got: ${{result}}\"\n"
    )
}

// spec: TOOLS-02
#[test]
fn a_page_is_read_as_markdown_if_its_domain_is_allowed() {
    let (port, heads) =
        serve(|_| page("text/html", "<title>Tea</title><h1>Green</h1><script>x()</script>"));
    let config = format!("[web]\nlocal_hosts = [\"localhost:{port}\"]\n");
    let home = home(&config, &fetching(&format!("http://localhost:{port}/tea")));
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("requires approval"), "{}{}", ran.out, ran.err);
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "WebFetch(domain:other.com)"]);
    assert!(ran.out.contains("requires approval"), "{}", ran.out);
    assert!(heads.lock().unwrap().is_empty());
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "WebFetch(domain:localhost)"]);
    assert!(
        ran.out.contains("Title: Tea") && ran.out.contains("# Green"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert!(!ran.out.contains("x()"), "{}", ran.out);
    let denied = ["--allowedTools", "WebFetch", "--disallowedTools", "WebFetch(domain:localhost)"];
    let ran = home.run_prompt_unattended("go", &denied);
    assert!(ran.out.contains("denies it"), "{}", ran.out);
    assert_eq!(heads.lock().unwrap().len(), 1);
}

#[test]
fn addresses_that_are_not_public_are_refused_whatever_a_rule_says() {
    let (port, heads) = serve(|_| page("text/plain", "secret"));
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "file:///etc/passwd".to_owned(),
        "http://user:pass@example.com/".to_owned(),
    ] {
        let home = TestHome::new(&fetching(&url));
        let ran = home.run_prompt_unattended("go", &["--allowedTools", "WebFetch"]);
        assert!(
            ran.out.contains("\"error\":true") && !ran.out.contains("secret"),
            "{url}: {}",
            ran.out
        );
    }
    assert!(heads.lock().unwrap().is_empty());
    let home = home("[web]\nlocal_host = [\"x\"]\n", &fetching("http://example.com/"));
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(
        ran.code == 2 && ran.err.contains("line 2") && ran.err.contains("local_host"),
        "{}",
        ran.err
    );
}

#[test]
fn no_proxy_variable_counts_and_a_page_is_fetched_once() {
    let (port, heads) = serve(|_| page("text/plain", "plain text"));
    let script = format!(
        "when results 0\n  call WebFetch {{\"url\": \"http://localhost:{port}/a\"}}\n\
         when ask 2\n  call WebFetch {{\"url\": \"http://localhost:{port}/a#b\", \"prompt\": \"why\"}}\n\
         when any\n  say \"got: ${{result}}\"\n"
    );
    let home = home("[web]\nlocal_hosts = [\"localhost\"]\n", &script);
    let args =
        ["-p", "go", "--script", "a.script", "--store", "w.db", "--allowedTools", "WebFetch"];
    let proxy = "http://127.0.0.1:9";
    let ran = home
        .run_with_env(&args, &[("HTTP_PROXY", proxy), ("http_proxy", proxy), ("ALL_PROXY", proxy)]);
    assert!(ran.out.contains("Asked about this page: why"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("plain text"), "{}", ran.out);
    assert_eq!(heads.lock().unwrap().len(), 1);
}

// spec: TOOLS-02
#[test]
fn a_search_engine_is_asked_and_its_results_have_sources() {
    let answer = r#"{"results": [
        {"title": "Green tea", "url": "https://tea.example/green", "content": "how to brew"},
        {"title": "Spam", "url": "https://spam.example/x", "content": "buy"}]}"#;
    let (port, heads) = serve(|_| page("application/json", answer));
    let script = "when results 0\n  call WebSearch {\"query\": \"green tea & more\", \"blocked_domains\": [\"spam.example\"]}\n\
                  when any\n  say \"got: ${result}\"\n";
    let config = format!("[web]\nsearch = \"searxng\"\nsearch_url = \"http://127.0.0.1:{port}\"\n");
    let home = home(&config, script);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("requires approval"), "{}{}", ran.out, ran.err);
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "WebSearch"]);
    assert!(
        ran.out.contains("1. Green tea") && ran.out.contains("https://tea.example/green"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("Spam"), "{}", ran.out);
    let heads = heads.lock().unwrap();
    assert!(heads[0].starts_with("GET /search?q=green+tea+%26+more&format=json "), "{}", heads[0]);
    // Without an engine there is no such tool.
    let without = TestHome::new(script);
    assert!(without.run_prompt_unattended("go", &[]).out.contains("no tool named"));
}

#[test]
fn brave_gets_its_key_in_a_header() {
    let answer =
        r#"{"web": {"results": [{"title": "T", "url": "https://e.com/", "description": "D"}]}}"#;
    let (port, heads) = serve(|_| page("application/json", answer));
    let script = "when results 0\n  call WebSearch {\"query\": \"tea\"}\nwhen any\n  say \"got: ${result}\"\n";
    let config = format!("[web]\nsearch = \"brave\"\nsearch_url = \"http://127.0.0.1:{port}/s\"\n");
    let home = home(&config, script);
    let args =
        ["-p", "go", "--script", "a.script", "--store", "w.db", "--allowedTools", "WebSearch"];
    let ran = home.run_with_env(&args, &[("BRAVE_API_KEY", "k-1")]);
    assert!(ran.out.contains("1. T") && !ran.out.contains("k-1"), "{}{}", ran.out, ran.err);
    assert!(heads.lock().unwrap()[0].contains("x-subscription-token: k-1"));
    let ran = home.run_bare(&args);
    assert!(ran.code == 2 && ran.err.contains("BRAVE_API_KEY"), "{}", ran.err);
}
