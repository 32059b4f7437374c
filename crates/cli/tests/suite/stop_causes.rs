//! Every stop cause, produced with the real binary: each cause has one name, and every output that
//! says why a run ended uses that name.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass::StopCause;
use windlass::core::call::outcome::ToolError;
use windlass::core::stop::TextPresence;
use windlass::tools::FunctionTool;

use crate::scripted_runs::play_prompts;
use crate::test_home::TestHome;

/// The prompt is the name of the stop cause that it leads to.
const SCRIPT: &str = r#"
when user is "end_turn"
  say "Done."
when user is "stop_sequence"
  say "Done."
  stop stop_sequence "\n---END---"
when user is "refusal"
  stop refusal
when user is "unexpected"
  say "So far."
  stop new_reason
when user is "tool_error_fatal"
  call Broken {}
when user is "user_cancel"
  call Bash {"command": "rm -r x"}
when user is "soft_time" and results 0
  call Bash {"command": "sleep 30"}
when user is "hard_time" and results 0
  call Bash {"command": "sleep 30"}
when user is "max_iters"
  call Read {"file_path": "a.txt"}
when user is "max_model_replies"
  call Read {"file_path": "a.txt"}
when user is "tool_deferred"
  call Read {"file_path": "a.txt"}
when user is "max_model_calls"
  call Read {"file_path": "a.txt"}
when user is "blocking_limit"
  say "Never."
  stop model_context_window_exceeded
when user is "truncation_exhausted"
  say "On and on"
  stop max_tokens
when user contains "continue from where you left off"
  say "On and on"
  stop max_tokens
when user is "provider_failed"
  fail 400 "bad request"
when any
  say "Half of it."
"#;

/// On a loaded machine the first reply may take longer than a soft limit; so little time is left
/// after it that the hard limit is the one that ends the run.
const CONFIG: &str = "[profiles.soft]\ntimes = { soft_ms = 300, hard_ms = 60000, grace_ms = 0 }\n\
                      [profiles.hard]\ntimes = { soft_ms = 1490, hard_ms = 1500, grace_ms = 60000 }\n";

const PRICED: &str = "[models.scripted.prices]\ninput = 900000000\noutput = 900000000\n\
                      cache_read = 0\ncache_write = 0\ncache_write_hour = 0\n";

/// A hook that ends the run whose prompt is `hook_stopped`.
const HOOK: &str = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command",
    "command": "if grep -q hook_stopped; then exit 2; fi"}]}]}}"#;

/// A hook that leaves a call to the program.
const DEFER: &str = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command",
    "command": "printf '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"defer\"}}'"}]}]}}"#;

/// The flags that lead to a cause.
const FLAGS: [(StopCause, &[&str]); 19] = [
    (StopCause::EndTurn, &[]),
    (StopCause::StopSequence, &[]),
    (StopCause::Refusal, &[]),
    (StopCause::Unexpected, &[]),
    (StopCause::UserCancel, &["--when-asked", "park"]),
    (StopCause::BudgetUsd, &["--max-budget-usd", "0.01"]),
    (StopCause::BudgetTokens, &["--max-budget-tokens", "500"]),
    (StopCause::PriceUnknown, &["--max-budget-usd", "1"]),
    (StopCause::SoftTime, &["--profile", "soft", "--allow", "Bash"]),
    (StopCause::HardTime, &["--profile", "hard", "--allow", "Bash"]),
    (StopCause::MaxToolRounds, &["--max-turns", "1"]),
    (StopCause::MaxModelReplies, &["--set", "model_replies=1"]),
    (StopCause::ToolDeferred, &["--settings", DEFER]),
    (StopCause::MaxModelCalls, &["--set", "model_calls=1"]),
    (StopCause::BlockingLimit, &[]),
    (StopCause::TruncationExhausted, &[]),
    (StopCause::StructuredOutputRetries, &["--json-schema", r#"{"type": "object"}"#]),
    (StopCause::HookStopped, &[]),
    (StopCause::ProviderFailed, &[]),
];

fn new_home() -> TestHome {
    let home = TestHome::new(SCRIPT);
    for folder in ["home", "priced", "user/.claude"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    home.write("home/config.toml", CONFIG);
    home.write("priced/config.toml", PRICED);
    home.write("user/.claude/settings.json", HOOK);
    home.write("a.txt", "x");
    home
}

/// The last message of a run that ends with this cause, in this format.
fn parse_result(place: &TestHome, cause: StopCause, flags: &[&str], format: &str) -> Value {
    let (name, priced) = (cause.as_str(), place.path("priced"));
    let conversation = format!("{name}-{format}");
    let fixed = ["-p", name, "--script", "a.script", "--store", "w.db"];
    let output = ["--conversation", &conversation, "--output-format", format, "--verbose"];
    let home = ("WINDLASS_HOME", priced.to_str().unwrap());
    let variables = if cause == StopCause::BudgetUsd { vec![home] } else { Vec::new() };
    let mut ran = place.run_with_env(&[&fixed[..], &output, flags].concat(), &variables);
    if cause == StopCause::UserCancel {
        ran = place.run(&["cancel", &conversation, "--json"]);
    }
    assert!(!ran.out.is_empty(), "{name}: nothing was printed; {}", ran.err);
    serde_json::from_str(ran.out.lines().last().unwrap()).unwrap()
}

// spec: STOP-22
#[test]
fn every_surface_calls_a_stop_cause_by_its_one_name() {
    let home = new_home();
    let broken = FunctionTool::new("Broken", "fails for good", |_, _: Value| async {
        Err(ToolError::new("broken", "it is broken", "mend it").into_fatal())
    });
    play_prompts(&home, "tool_error_fatal-json", &["tool_error_fatal"], |builder| {
        builder.tool(broken).allow("Broken")
    });
    for (cause, flags) in FLAGS {
        for format in ["json", "stream-json"] {
            let result = parse_result(&home, cause, flags, format);
            assert_eq!(result["stop_cause"], cause.as_str(), "{format}: {result}");
            let is_ok = cause.result_subtype(TextPresence::Present)
                == windlass::core::stop::ResultSubtype::Success;
            assert_eq!((&result["ok"], &result["is_error"]), (&is_ok.into(), &(!is_ok).into()));
            assert_eq!(result["result"].is_string(), is_ok, "{result}");
            let resumable = (!is_ok).then_some(Value::Bool(cause.is_resumable()));
            assert_eq!(result.get("resumable").cloned(), resumable, "{result}");
        }
    }
    let walked = FLAGS.iter().map(|(cause, _)| *cause).chain([StopCause::ToolFatal]);
    let walked: BTreeSet<StopCause> = walked.collect();
    let runs = home.json(&["runs", "--limit", "200"]);
    let stats = home.json(&["stats"]);
    for cause in StopCause::all() {
        // These two runs are parked: the next test covers them.
        if matches!(cause, StopCause::AskedHuman | StopCause::ResumeUnsafe) {
            continue;
        }
        assert!(walked.contains(&cause), "{} is not walked", cause.as_str());
        assert_inspectable(&home, cause, &runs);
        assert!(stats[0]["reasons"][cause.as_str()].as_u64() >= Some(1), "{cause:?}: {}", stats[0]);
    }
}

/// Checks what the inspect commands say about a run that has ended.
fn assert_inspectable(home: &TestHome, cause: StopCause, runs: &[Value]) {
    let (name, lane) = (cause.as_str(), format!("{}-json", cause.as_str()));
    let run = runs.iter().find(|run| run["conversation"] == lane).unwrap();
    assert_eq!(run["cause"], name);
    let events = home.json(&["logs", &lane]);
    let ended = events.iter().find_map(|event| event.pointer("/fields/cause").map(|_| event));
    assert!(ended.is_some(), "{name}: {events:?}");
    let ended = ended.and_then(|event| event.get("fields")).unwrap();
    assert_eq!(ended.get("cause"), Some(&name.into()), "{ended}");
    assert_eq!(ended.get("resumable"), Some(&cause.is_resumable().into()), "{ended}");
    let explained = home.json(&["explain", &lane]);
    let explained = explained.first().and_then(|run| run.pointer("/explanation/cause"));
    assert_eq!(explained, Some(&name.into()));
    for look in ["show", "explain"] {
        // Line breaks do not matter.
        let output = home.run(&[look, &lane]).out;
        let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.contains(&format!("stopped ({name}): ")), "{look}: {output}");
        let advises = output.contains(&format!("`windlass resume {lane}"));
        assert_eq!(advises, cause.is_resumable(), "{look}: {output}");
    }
    let trace = home.run(&["trace", &lane]).out;
    assert!(trace.contains(&format!("stopped ({name}): ")), "{trace}");
    // Only resumable runs are resumed.
    if !cause.is_resumable() {
        let ran = home.run(&["resume", &lane, "--script", "a.script"]);
        let says = format!("has finished ({name}); there is nothing to resume");
        assert!(ran.code != 0 && ran.err.contains(&says), "{name}: {}", ran.err);
    }
}

/// A run that waits for a person has not ended: it has a state and no cause.
#[test]
fn a_run_that_waits_has_no_cause() {
    let home = new_home();
    let ran = home.run_prompt("user_cancel", &["--output-format", "json", "--conversation", "c"]);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["terminal_reason"], StopCause::AskedHuman.terminal_reason());
    assert_eq!(result.get("stop_cause"), None, "{result}");
    let run = &home.json(&["runs"])[0];
    assert_eq!((&run["state"], &run["cause"]), (&"waiting_on_human".into(), &Value::Null));
    assert_eq!(home.json(&["explain", "c"])[0]["explanation"]["cause"], Value::Null);
}

#[test]
fn a_limit_is_told_in_numbers_by_json_text_and_explain() {
    const LOOP: &str = "when any\n  call Bash {\"command\": \"echo hi\"}\n";
    for (flags, cause, numbers) in [
        (&["--max-turns", "2"][..], "max_iters", "2 of 2 rounds with tool calls used"),
        (&["--max-turns", "1"], "max_iters", "1 of 1 round with tool calls used"),
        (&["--set", "model_calls=3"], "max_model_calls", "3 of 3 model calls used"),
        (
            &["--max-budget-tokens", "300"],
            "budget_tokens",
            "the run's budget: 0 of 300 tokens spent, and the next model call could exceed it",
        ),
        (
            &["--max-conversation-budget-tokens", "200"],
            "budget_tokens",
            "the conversation's budget: 0 of 200 tokens spent, and the next model call could exceed \
             it",
        ),
        (
            &["--max-call-budget-tokens", "5"],
            "budget_tokens",
            "a model call may cost 5 tokens, and the next one could cost more",
        ),
    ] {
        let home = TestHome::new(LOOP);
        let all = [&["--allowedTools", "Bash", "--conversation", "c"], flags].concat();
        let ran = home.run_prompt_unattended("go", &[&all[..], &["--json"]].concat());
        let result: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(result["stop_cause"], cause, "{flags:?}: {result}");
        let error = result["errors"][0].as_str().unwrap();
        assert!(error.ends_with(&format!(" ({numbers})")), "{flags:?}: {error}");
        let output = home.run(&["explain", "c"]).out;
        let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.contains(&format!("({numbers}). [entry")), "{flags:?}: {output}");
        let again = TestHome::new(LOOP).run_prompt_unattended("go", &all);
        assert!(again.err.contains(&format!("({numbers}); see `windlass")), "{}", again.err);
    }
}
