//! Text that a hostile model or repository chooses: it fetches nothing, forges no record of the log,
//! and is never read as SQL.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::test_home::TestHome;

/// Case 98: an image in Markdown is text, whoever shows it.
#[test]
fn an_image_in_an_answer_is_not_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let contacted: Arc<AtomicBool> = Arc::default();
    let seen = Arc::clone(&contacted);
    std::thread::spawn(move || {
        if listener.accept().is_ok() {
            seen.store(true, Ordering::SeqCst);
        }
    });
    for image in [
        "![pixel](http://127.0.0.1:PORT/?secret)",
        "<img src=http://127.0.0.1:PORT/?secret>",
        "[![x](http://127.0.0.1:PORT/a)](http://127.0.0.1:PORT/b)",
        "![x][1]\\n\\n[1]: http://127.0.0.1:PORT/c",
        "<link rel=stylesheet href=//127.0.0.1:PORT/d>",
    ] {
        let text = image.replace("PORT", &port.to_string());
        let home = TestHome::new(&format!("when any\n  say \"{text}\"\n"));
        for format in ["text", "json", "stream-json"] {
            let flags = ["--conversation", "c", "--output-format", format, "--verbose"];
            let ran = home.run_prompt_unattended("go", &flags);
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        for look in [&["show", "c"][..], &["explain", "c"], &["runs"], &["replay", "c"]] {
            home.run(look);
        }
    }
    assert!(!contacted.load(Ordering::SeqCst), "an image was fetched");
}

/// Case 99: every line of the log is a record of ours, whatever names and texts contain.
#[test]
fn text_with_line_ends_forges_no_record_of_the_log() {
    let forged = "2026-01-01T00:00:00Z ERROR forged: all is lost";
    for end in ["\n", "\r\n", "\r", "\u{2028}", "\u{85}", "\u{1b}[2K\n"] {
        let text = format!("x{end}{forged}");
        let call = json!({ "command": format!("echo '{text}' >&2; exit 1") });
        let script = format!("when results 0\n  call Bash {call}\nwhen any\n  say \"done\"\n");
        let home = TestHome::new(&script);
        let flags = ["--allowedTools", "Bash", "--conversation", "c"];
        let args: Vec<&str> = ["-p", &text].into_iter().chain(flags).collect();
        let files = ["--script", "a.script", "--store", "w.db"];
        let args: Vec<&str> = args.into_iter().chain(files).collect();
        let ran = home.run_with_env(&args, &[("RUST_LOG", "windlass=trace")]);
        let is_forged = |line: &&str| line.trim_start().starts_with("2026-01-01T00:00:00Z ERROR");
        let lines = ran.err.split(['\n', '\r', '\u{2028}', '\u{85}']);
        let found: Vec<&str> = lines.filter(is_forged).collect();
        assert!(found.is_empty(), "{end:?}: {found:?}");
    }
}

/// Case 100: names and texts are never part of SQL.
#[test]
fn names_and_texts_with_sql_are_only_text() {
    for text in [
        "'; DROP TABLE entry; --",
        "\"; DELETE FROM lane; --",
        "x' OR '1'='1",
        "%_%",
        "\\'; SELECT 1",
        "x\u{0}y",
        "$1 ?1 :a @a",
        "x /* */ UNION SELECT body FROM entry",
    ] {
        let said = json!(format!("said {text}")).to_string();
        let home = TestHome::new(&format!("when any\n  say {said}\n"));
        // The system passes no argument with a NUL.
        let name = text.replace('\0', "");
        let ran = home.run_prompt_unattended(&name, &["--conversation", &name]);
        // Whether such a name is accepted or refused, the store is whole.
        assert!(ran.code == 0 || !ran.err.is_empty(), "{text}: {}", ran.err);
        for args in [&["show", &name][..], &["explain", &name], &["runs", "--json"]] {
            home.run(args);
        }
        let ran = home.run_prompt_unattended(&name, &["--conversation", "other"]);
        assert_eq!(ran.code, 0, "{text}: {}", ran.err);
        let check = home.query("PRAGMA integrity_check");
        assert_eq!(check, ["ok"], "{text}");
        let shown = home.run(&["show", "other"]);
        assert_eq!(shown.code, 0, "{text}: {}", shown.err);
    }
}
