//! The OpenAPI document describes what the server does.

use serde_json::{Value, json};

use crate::server_process::ServerHome;

#[test]
fn every_operation_of_the_document_exists() {
    let home = ServerHome::new("when any\n  say \"done\"\n");
    let server = home.serve(&["--no-worker"]);
    let document = server.get("/openapi.json").json();
    let kept = include_str!("../../../../docs/openapi.json");
    assert_eq!(document, serde_json::from_str::<Value>(kept).unwrap());
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 22, "{}", paths.len());
    for (path, methods) in paths {
        let parts: Vec<&str> = path
            .split('/')
            .map(|part| if part.starts_with('{') { "nothing" } else { part })
            .collect();
        // A stream of all runs has no end; its own test reads it.
        if path == "/v1/events/stream" {
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let body = (method == "post").then(|| json!({"prompt": "x", "answer": "allow"}));
            let got = server.request(&method.to_uppercase(), &parts.join("/"), body.as_ref());
            assert_ne!(got.status, 405, "{method} {path}");
            assert!(!got.body.contains("no resource"), "{method} {path}: {}", got.body);
            assert!(got.status < 500, "{method} {path}: {}", got.body);
        }
    }
}
