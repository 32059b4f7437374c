//! Messages of stream-json about unusual events: retries, a fallback model, a compacted context;
//! and the models in the result.

use serde_json::Value;

use crate::scripted::ScriptedServer;
use crate::test_home::{CommandOutput, TestHome};

const STREAM: [&str; 3] = ["--output-format", "stream-json", "--verbose"];

fn parse_frames(ran: &CommandOutput) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn system_frames<'f>(frames: &'f [Value], subtype: &str) -> Vec<&'f Value> {
    frames.iter().filter(|frame| frame.get("subtype") == Some(&subtype.into())).collect()
}

#[test]
fn a_call_that_is_made_again_is_told_with_its_status() {
    let home = TestHome::new(
        "when user is \"busy\"\n  times 2\n  fail 529 retry-after 0\n\
         when user is \"limited\"\n  once\n  fail 429 retry-after 0\nwhen any\n  say \"ok\"\n",
    );
    let messages = parse_frames(&home.run_prompt_unattended("busy", &STREAM));
    let retries = system_frames(&messages, "api_retry");
    assert_eq!(retries.len(), 2, "{messages:?}");
    for (attempt, retry) in (1..).zip(&retries) {
        assert_eq!(retry["attempt"], attempt);
        assert_eq!((&retry["error_status"], &retry["error"]), (&529.into(), &"overloaded".into()));
        assert!(retry["retry_delay_ms"].is_u64() && retry["max_retries"].is_u64(), "{retry}");
    }
    let messages = parse_frames(&home.run_prompt_unattended("limited", &STREAM));
    assert_eq!(system_frames(&messages, "api_retry")[0]["error"], "rate_limit");
}

#[test]
fn after_a_fallback_everything_names_the_model_that_answered() {
    let home = TestHome::new(
        "when user is \"hello\"\n  times 3\n  fail 529 retry-after 0\n\
         when any\n  say \"Hello.\"\n  usage in 100 out 10 cache_read 7 cache_write 3\n",
    );
    let server = ScriptedServer::start(&home, &[]);
    let address = format!("http://{}", server.address);
    let environment = [("ANTHROPIC_BASE_URL", address.as_str()), ("ANTHROPIC_API_KEY", "none")];
    let args = ["-p", "hello", "--model", "claude-sonnet-4-5", "--store", "w.db"];
    let fallback = ["--fallback-model", "claude-haiku-4-5"];
    let ran = home.run_with_env(&[&args[..], &fallback, &STREAM].concat(), &environment);
    let messages = parse_frames(&ran);
    let fell_back = system_frames(&messages, "model_fallback");
    assert_eq!(fell_back.len(), 1, "{}", ran.out);
    assert_eq!(fell_back[0]["trigger"], "overloaded");
    assert_eq!(fell_back[0]["original_model"], "claude-sonnet-4-5");
    assert_eq!(fell_back[0]["fallback_model"], "claude-haiku-4-5");
    let value = messages.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(value["message"]["model"], "claude-haiku-4-5");
    let used = &messages.last().unwrap()["modelUsage"];
    let haiku = &used["claude-haiku-4-5"];
    assert_eq!(
        (&haiku["inputTokens"], &haiku["outputTokens"]),
        (&100.into(), &10.into()),
        "{used}"
    );
    assert_eq!(haiku["cacheReadInputTokens"], 7, "{used}");
    assert_eq!(haiku["cacheCreationInputTokens"], 3, "{used}");
    assert!(haiku["costUSD"].as_f64().unwrap() > 0.0, "{used}");
    assert!(used.get("claude-sonnet-4-5").is_none(), "it never answered: {used}");
}

/// Afterwards, too: what was stored names each model for what it did.
// spec: MODELS-07
#[test]
fn rows_name_the_model_that_was_asked_before_and_after_a_fallback() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a.txt\"}\n\
         when results 1 and ask 2+\n  times 3\n  fail 529 retry-after 0\n\
         when any\n  say \"Done.\"\n",
    );
    home.write("a.txt", "x");
    let server = ScriptedServer::start(&home, &[]);
    let address = format!("http://{}", server.address);
    let environment = [("ANTHROPIC_BASE_URL", address.as_str()), ("ANTHROPIC_API_KEY", "none")];
    let args = ["-p", "go", "--store", "w.db", "--conversation", "c", "--output-format", "json"];
    let models = ["--model", "claude-sonnet-4-5", "--fallback-model", "claude-haiku-4-5"];
    let ran = home.run_with_env(&[&args[..], &models].concat(), &environment);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let used = |name: &str| result["modelUsage"][name]["costUSD"].as_f64().unwrap();
    let total = result["total_cost_usd"].as_f64().unwrap();
    let sum = used("claude-sonnet-4-5") + used("claude-haiku-4-5");
    assert!((total - sum).abs() < 1e-9 && total > 0.0, "{result}");
    let trace = home.json(&["trace", "c"]);
    let asked: Vec<&str> = trace.iter().map(|row| row["model"].as_str().unwrap()).collect();
    assert_eq!(asked, ["claude-sonnet-4-5", "claude-haiku-4-5"]);
    let stored = "SELECT model FROM agent_loop_iteration ORDER BY trace_id";
    assert_eq!(home.query(stored), asked);
    let table = home.run(&["trace", "c"]).out;
    assert!(table.contains("iteration 2 used claude-haiku-4-5"), "{table}");
    assert_eq!(home.json(&["runs"])[0]["model"], "claude-haiku-4-5");
    let events = home.json(&["logs", "c"]);
    let fell = events.iter().find(|event| event["name"] == "agent.model.fell_back").unwrap();
    assert_eq!(fell["fields"]["model"], "claude-haiku-4-5", "{fell}");
    for look in ["show", "explain"] {
        let ran = home.run(&[look, "c"]);
        assert!(ran.out.contains("fallback model claude-haiku-4-5"), "{look}: {}", ran.out);
    }
    // The next run starts with the chosen model.
    home.run_with_env(&[&args[..], &models].concat(), &environment);
    assert_eq!(home.json(&["runs"])[0]["model"], "claude-sonnet-4-5");
}

#[test]
fn a_compaction_says_whether_somebody_asked_for_it() {
    let reads: String = (0..9)
        .map(|n| format!("when ask {n}\n  call Read {{\"file_path\": \"n.txt\", \"offset\": {}, \"limit\": 45}}\n", n * 45 + 1))
        .collect();
    let home = TestHome::new(&format!(
        "when user contains \"Summarise the conversation\"\n  say \"So far: notes.\"\n{reads}\
         when any\n  say \"Read them all.\"\n"
    ));
    let notes: String =
        (1..=400).map(|n| format!("line {n} of notes that are long and say little\n")).collect();
    home.write("n.txt", &notes);
    let small = ["--window-tokens", "8000", "--set", "kept_messages=4", "--conversation", "c"];
    let messages = parse_frames(&home.run_prompt("Read my notes", &[&small[..], &STREAM].concat()));
    let boundaries = system_frames(&messages, "compact_boundary");
    assert!(!boundaries.is_empty(), "{messages:?}");
    assert!(boundaries.iter().all(|boundary| boundary["compact_metadata"]["trigger"] == "auto"));
    let first = &boundaries[0]["compact_metadata"];
    assert!(first["pre_tokens"].as_u64() > first["post_tokens"].as_u64(), "{first}");
}

#[test]
fn a_compaction_that_was_asked_for_is_manual() {
    let long = "many words ".repeat(400);
    let home = TestHome::new(&format!(
        "when user contains \"Summarise the conversation\"\n  say \"Words.\"\nwhen any\n  say \"{long}\"\n"
    ));
    for prompt in ["one", "two", "three", "four", "five", "six"] {
        home.run_prompt_unattended(prompt, &["--conversation", "c"]);
    }
    let ran = home.run(&["compact", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let messages = parse_frames(
        &home.run_prompt_unattended("go on", &[&["--conversation", "c"], &STREAM[..]].concat()),
    );
    let boundaries = system_frames(&messages, "compact_boundary");
    assert_eq!(boundaries.len(), 1, "{messages:?}");
    assert_eq!(boundaries[0]["compact_metadata"]["trigger"], "manual");
}
