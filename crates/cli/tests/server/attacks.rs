//! The attack cases on the server: each is refused before anything happens, whatever it asks for.

use std::io::{BufReader, Write};

use serde_json::json;

use crate::http_client::{connect, read_response, read_to_close, send_raw};
use crate::server_process::{ServerHome, ServerProcess};

const ECHO: &str = "when any\n  say \"You said: ${user}\"\n";

/// Paths of all kinds, and one that does not exist.
const PATHS: [&str; 9] = [
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/v1/runs",
    "/v1/conversations/x",
    "/v1/runs/x/stream",
    "/v1/questions",
    "/nothing",
    "/v1/events/stream",
];

/// The status of a request whose head is given without its first line.
fn status(server: &ServerProcess, request_line: &str, headers: &[&str]) -> (u16, String) {
    let head = [&[request_line], headers, &["", ""]].concat().join("\r\n");
    let response = send_raw(&server.address, head.as_bytes());
    (response.status, response.problem())
}

// spec: SERVER-08
#[test]
fn nothing_is_served_without_the_token() {
    // Attack case 71.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let host = format!("host: {}", server.address);
    for path in PATHS {
        let get = format!("GET {path} HTTP/1.1");
        for wrong in ["x: y", "authorization: Bearer wrong", "authorization: Basic d3Jvbmc="] {
            let refused = status(&server, &get, &[&host, wrong]);
            assert_eq!(refused, (401, "unauthorized".to_owned()), "{path} {wrong}");
        }
    }
    let health =
        send_raw(&server.address, format!("GET /healthz HTTP/1.1\r\n{host}\r\n\r\n").as_bytes());
    assert_eq!((health.status, health.json()), (200, json!({"status": "ok"})));
    assert_eq!(health.header("x-content-type-options"), Some("nosniff"));
    let policy = health.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    for header in ["access-control-allow-origin", "set-cookie"] {
        assert_eq!(health.header(header), None);
    }
    let get = format!("GET /v1/runs HTTP/1.1\r\n{host}\r\n\r\n");
    let refused = send_raw(&server.address, get.as_bytes());
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    // The pages of the dashboard hold no data; what is beside them does not exist.
    for file in ["/dashboard.js", "/dashboard.css", "/icon.svg"] {
        let get = format!("GET {file} HTTP/1.1\r\n{host}\r\n\r\n");
        let page = send_raw(&server.address, get.as_bytes());
        assert_eq!(page.status, 200, "{file}");
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"));
    }
    for path in ["/index.html", "/../Cargo.toml", "/%2e%2e%2fCargo.toml", "/dashboard.js%00", "//"]
    {
        let beside = status(&server, &format!("GET {path} HTTP/1.1"), &[&host]);
        assert_eq!(beside.0, 401, "{path}");
    }
}

// spec: SERVER-08
#[test]
fn other_hosts_and_origins_are_refused() {
    // Attack cases 72, 73, 76.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&["--allowed-host", "api.example.com"]);
    let own = format!("host: {}", server.address);
    let token = format!("authorization: Bearer {}", server.token);
    for host in ["host: evil.com", "host: localhost.evil.com", "host: 127.0.0.1:1"] {
        let refused = status(&server, "GET /v1/runs HTTP/1.1", &[host, &token]);
        assert_eq!(refused, (421, "host_not_allowed".to_owned()), "{host}");
        assert_eq!(status(&server, "GET /healthz HTTP/1.1", &[host]).0, 421, "{host}");
    }
    let cross_site = [
        "origin: http://evil.com",
        "origin: null",
        "origin: http://127.0.0.1:1",
        "origin: file://",
        "sec-fetch-site: cross-site",
        "sec-fetch-site: same-site",
    ];
    for header in cross_site {
        for line in ["GET /v1/runs HTTP/1.1", "POST /v1/conversations HTTP/1.1"] {
            let refused = status(&server, line, &[&own, &token, header]);
            assert_eq!(refused, (403, "origin_not_allowed".to_owned()), "{header}");
        }
    }
    let cookie = [own.as_str(), &token, "cookie: session=1"];
    let refused = status(&server, "POST /v1/conversations HTTP/1.1", &cookie);
    assert_eq!(refused, (403, "origin_not_allowed".to_owned()));
    let upgrade = ["connection: upgrade", "upgrade: websocket", "origin: http://evil.com"];
    let refused =
        status(&server, "GET /v1/runs HTTP/1.1", &[&[&own, token.as_str()], &upgrade[..]].concat());
    assert_eq!(refused.0, 403);
    // The same requests from here are let in.
    let origin = format!("http://{}", server.address);
    let own_page = [("origin", origin.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(server.request_with("GET", "/readyz", &own_page, None).status, 200);
    let proxied = format!("GET /readyz HTTP/1.1\r\nhost: api.example.com\r\n{token}\r\n\r\n");
    assert_eq!(send_raw(&server.address, proxied.as_bytes()).status, 200);
}

#[test]
fn bodies_of_forms_and_tokens_in_addresses_are_refused() {
    // Attack cases 74, 75.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&["--log", "debug"]);
    let body = r#"{"prompt":"hi"}"#;
    for kind in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""] {
        let head = server.head_with("POST", "/v1/conversations", &[("content-type", kind)]);
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let refused = send_raw(&server.address, request.as_bytes());
        assert_eq!((refused.status, refused.problem().as_str()), (415, "unsupported_media_type"));
    }
    for name in ["token", "access_token", "ACCESS_TOKEN"] {
        let refused = server.get(&format!("/v1/runs?{name}=swordfish"));
        assert_eq!((refused.status, refused.problem().as_str()), (400, "token_in_url"));
    }
    let runs = home.run(&["runs", "--store", "w.db", "--json"]);
    assert!(runs.stdout.is_empty(), "{runs:?}");
    let token = server.token.clone();
    let (_, told) = server.stop();
    assert!(!told.contains("swordfish") && !told.contains(&token), "{told}");
}

#[test]
fn malformed_requests_are_bounded() {
    // Attack case 77.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    // A second request hidden in a body whose length is given twice is never answered.
    let hidden = format!("GET /readyz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let both = [("transfer-encoding", "chunked"), ("content-length", "5")];
    let head = server.head_with("POST", "/v1/conversations", &both);
    let mut stream = connect(&server.address);
    stream.write_all(format!("{head}\r\n0\r\n\r\n{hidden}").as_bytes()).unwrap();
    let answered = read_to_close(&mut stream);
    assert_eq!(answered.matches("HTTP/1.1 ").count(), 1, "{answered}");
    assert!(answered.starts_with("HTTP/1.1 4"), "{answered}");
    // A megabyte of headers.
    let large = server.head_with("GET", "/readyz", &[("x", &"y".repeat(1 << 20))]);
    assert_eq!(send_raw_status(&server, &format!("{large}\r\n")), Some(431));
    let many: Vec<(String, String)> = (0..500).map(|n| (format!("x{n}"), "y".into())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let many = server.head_with("GET", "/readyz", &many);
    assert_eq!(send_raw_status(&server, &format!("{many}\r\n")), Some(431));
    // A body that is announced too large is refused before it is sent.
    let json = [("content-type", "application/json"), ("content-length", "999999999")];
    let head = server.head_with("POST", "/v1/conversations", &json);
    let refused = send_raw(&server.address, format!("{head}\r\n").as_bytes());
    assert_eq!((refused.status, refused.problem().as_str()), (413, "body_too_large"));
    assert_eq!(server.get("/readyz").status, 200);
}

/// The status of the response, if there is one.
fn send_raw_status(server: &ServerProcess, request: &str) -> Option<u16> {
    let mut stream = connect(&server.address);
    let _ = stream.write_all(request.as_bytes());
    let answered = read_to_close(&mut stream);
    answered.split(' ').nth(1).and_then(|status| status.parse().ok())
}

#[test]
fn slow_and_many_clients_keep_no_one_else_out() {
    // Attack case 77: slow-loris, many connections.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    let mut slow = connect(&server.address);
    slow.write_all(b"GET /readyz HTTP/1.1\r\nhost: ").unwrap();
    let idle: Vec<_> = (0..300).map(|_| connect(&server.address)).collect();
    assert_eq!(server.get("/readyz").status, 200);
    // The head is not complete in time: the connection is closed.
    assert_eq!(read_to_close(&mut slow), "");
    drop(idle);
    assert_eq!(server.get("/readyz").status, 200);
}

#[test]
fn paths_lead_nowhere_else() {
    // Attack case 78.
    let home = ServerHome::new(ECHO);
    let server = home.serve(&[]);
    for path in [
        "/../../etc/passwd",
        "/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/v1/conversations/%2e%2e%2f%2e%2e%2fw.db",
        "/v1/runs/%00",
        "/v1/runs/..%5c..%5cw.db",
        "/healthz%00",
        "//readyz",
    ] {
        let refused = server.get(path);
        assert_eq!((refused.status, refused.problem().as_str()), (404, "not_found"), "{path}");
    }
    // A connection is used for several requests.
    let mut stream = connect(&server.address);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..3 {
        stream
            .write_all(format!("{}\r\n", server.head_with("GET", "/readyz", &[])).as_bytes())
            .unwrap();
        assert_eq!(read_response(&mut reader).status, 200);
    }
}
