use crate::log::redact::{json_without_secrets, without_secrets};
use crate::message::raw_json::RawJson;

#[test]
fn every_known_shape_goes() {
    for (text, clean) in [
        ("key sk-ant-REDACTED here", "key [redacted] here"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("push with ghp_0123456789abcdefghij.", "push with [redacted]"),
        ("Authorization: Bearer abc.def-123456", "Authorization: [redacted]"),
        ("curl -H 'bearer abcdefghijklmnop'", "curl -H '[redacted]'"),
        ("password=hunter2 and more", "password=[redacted] and more"),
        ("DB_PASSWORD='hunter2'", "DB_PASSWORD='[redacted]'"),
        ("x-api-key: 0a1b2c", "x-api-key: [redacted]"),
        ("?user=me&token=abc&page=2", "?user=me&token=[redacted]&page=2"),
        ("postgres://me:pa:ss@db/x", "postgres://me:[redacted]@db/x"),
        ("postgres://u:p@ss@host/db", "postgres://u:[redacted]@host/db"),
        ("postgres://u:p@s@s@host:5432/db?x=1", "postgres://u:[redacted]@host:5432/db?x=1"),
        (r#"{"api_key":"a b","n":1}"#, r#"{"api_key":"[redacted] b","n":1}"#),
        (r#""{\"secret\": \"s3\"}""#, r#""{\"secret\": \"[redacted]\"}""#),
        ("Basic: authorization = Basic dXNlcjpwdw==\n", "Basic: authorization = [redacted]\n"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----",
        ),
    ] {
        assert_eq!(without_secrets(text), clean);
        assert_eq!(without_secrets(clean), clean, "twice is once");
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "a task-oriented-approach on disk-encrypted-volumes",
        r#"{"max_tokens":512,"token":7,"secret":null,"password":true}"#,
        "the password is long; see http://host:8080/a@b",
        "sk-short, AKIA, ghp_x",
        "",
    ] {
        assert_eq!(without_secrets(text), text);
    }
}

#[test]
fn json_stays_json() {
    for text in [
        r#"{"token":"a","list":["password=x","y"]}"#,
        r#"{"password":{"a":1},"token":["b"]}"#,
        r#""say \"token\": \"x\\\"y\"""#,
    ] {
        let clean = json_without_secrets(&RawJson::parse(text).unwrap());
        assert!(clean.read::<serde_json::Value>().is_ok(), "{}", clean.text());
    }
}
