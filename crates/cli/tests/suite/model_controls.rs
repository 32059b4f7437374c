//! Model controls, from the command line and config.toml to the request.

use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

/// A test home with a configuration and without the keys of this machine.
fn new_home(config: &str) -> TestHome {
    let home = TestHome::new("");
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", config);
    home
}

/// A request with controls from the command line alone.
// spec: MODELS-03
#[test]
fn model_output_limit_and_stop_sequences_are_sent_as_typed() {
    let wire = RecordingServer::start();
    let home = new_home("");
    let model = ["--model", "claude-sonnet-4-6"];
    let (sent, _) = wire.run_prompt(&home, &[&model[..], &["--max-tokens", "4096"]].concat());
    assert_eq!(sent.body["model"], "claude-sonnet-4-6");
    assert_eq!(sent.body["max_tokens"], 4_096);
    assert_eq!(sent.body["stop_sequences"], json!(["\n---END---", "\nUser:"]));
    let own = ["--stop-sequence", "\\nHuman:", "--stop-sequence", "-STOP-"];
    let (sent, ran) = wire.run_prompt(&home, &[&model[..], &own].concat());
    assert_eq!(sent.body["stop_sequences"], json!(["\nHuman:", "-STOP-"]));
    // The model is told to write its end marker.
    let system = sent.body["system"][0]["text"].as_str().unwrap();
    assert!(system.contains("a line that contains only Human: or -STOP-"), "{system}");
    assert_eq!(ran.err, "", "{}", ran.err);
    let (sent, _) = wire.run_prompt(&home, &[&model[..], &["--stop-sequence", ""]].concat());
    assert_eq!(sent.body.get("stop_sequences"), None);
    for (bad, says) in [
        (["--stop-sequence", "\\x"], "unknown escape"),
        (["--stop-sequence", " "], "is blank"),
        (["--max-tokens", "0"], "not a valid value for --max-tokens"),
        (["--max-tokens", "999999"], "claude-sonnet-4-6 allows 1 to 128,000 output tokens"),
        (["--temperature", "2.5"], "between 0 and 2"),
        (["--temperature", "-1"], "between 0 and 2"),
    ] {
        let ran = home.run_with_env(&[&["-p", "hi"], &model[..], &bad].concat(), &wire.keys());
        assert!(ran.code != 0 && ran.err.contains(says), "{bad:?}: {}", ran.err);
    }
    assert_eq!(
        wire.recorded_requests().len(),
        0,
        "nothing was asked with settings that were refused"
    );
}

// spec: MODELS-10
#[test]
fn effort_thinking_budget_betas_temperature_and_cache_reach_the_wire() {
    let wire = RecordingServer::start();
    let home = new_home("");
    let ask = |more: &[&str]| wire.run_prompt(&home, more);
    let (sent, ran) = ask(&["--model", "opus", "--effort", "xhigh", "--task-budget", "30000"]);
    assert_eq!(sent.body["model"], "claude-opus-5-5", "the newest of its family");
    assert_eq!(sent.body["output_config"]["effort"], "xhigh");
    assert_eq!(sent.body["output_config"]["task_budget"]["total"], 30_000);
    assert_eq!(ran.err, "");
    let betas = ["--betas", "one-2026,two-2026"];
    let (sent, _) = ask(&[&["--model", "claude-sonnet-4-5"], &betas[..]].concat());
    assert!(sent.head.contains("anthropic-beta: one-2026,two-2026\r\n"), "{}", sent.head);
    let budget = ["--model", "claude-sonnet-4-5", "--max-thinking-tokens", "2000"];
    let (sent, _) = ask(&budget);
    assert_eq!(sent.body["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    let (sent, _) = ask(&["--model", "claude-sonnet-4-6", "--max-thinking-tokens", "0"]);
    assert_eq!(sent.body["thinking"], json!({"type": "disabled"}));
    let cool = ["--model", "claude-sonnet-4-5", "--temperature", "0.25"];
    let (sent, ran) = ask(&[&cool[..], &["--cache-lifetime", "1h"]].concat());
    assert_eq!(sent.body["temperature"], 0.25);
    let marked = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(sent.body["system"][0]["cache_control"], marked);
    assert_eq!(ran.err, "");
    let (sent, _) = ask(&["--model", "sonnet", "--cache-lifetime", "off"]);
    assert!(!sent.body.to_string().contains("cache_control"), "{}", sent.body);
    let (sent, _) = ask(&["--model", "openai-chat:gpt-4o", "--temperature", "1.5"]);
    assert_eq!(sent.body["temperature"], 1.5);
    let (sent, _) = ask(&["--model", "gpt-6-sol", "--effort", "low"]);
    assert_eq!(sent.body["reasoning"]["effort"], "low");
}

/// A control that the model does not support is reported once, on standard error, and not sent.
// spec: MODELS-10
#[test]
fn a_control_without_effect_says_so() {
    let wire = RecordingServer::start();
    let home = new_home("");
    let cases: [(&[&str], &str, &str); 7] = [
        (&["claude-haiku-4-5", "--effort", "high"], "--effort has no effect", "/output_config"),
        (&["claude-opus-4-5", "--effort", "max"], "--effort is lowered", "/none"),
        (&["opus", "--temperature", "0.5"], "--temperature has no effect", "/temperature"),
        (&["gpt-6-sol", "--betas", "x"], "--betas has no effect", "/none"),
        (&["gpt-6-sol", "--task-budget", "9000"], "--task-budget has no effect", "/none"),
        (&["gpt-6-sol", "--cache-lifetime", "1h"], "--cache-lifetime has no effect", "/none"),
        (
            &["opus", "--max-thinking-tokens", "0"],
            "--max-thinking-tokens has no effect",
            "/thinking",
        ),
    ];
    for (flags, says, gone) in cases {
        let (sent, ran) = wire.run_prompt(&home, &[&["--model"], flags].concat());
        assert_eq!(ran.err.matches(says).count(), 1, "{flags:?}: {}", ran.err);
        assert_eq!(sent.body.pointer(gone), None, "{flags:?}");
    }
}

// spec: MODELS-10
#[test]
fn controls_stand_in_the_configuration_and_in_profiles() {
    let wire = RecordingServer::start();
    let home = new_home(
        "model = \"claude-opus-4-6\"\neffort = \"low\"\nmax_tokens = 1000\ncache_lifetime = \"1h\"\n\
         stop_sequences = { \"\\nUser:\" = \"reprompt\", \"MORE\" = \"continue\" }\n\
         [profiles.hard]\neffort = \"high\"\nmax_thinking_tokens = 0\ntemperature = 0.5\nbetas = [\"b-1\"]\n\
         task_budget = 25000\n",
    );
    let (sent, _) = wire.run_prompt(&home, &[]);
    assert_eq!(sent.body["output_config"]["effort"], "low");
    assert_eq!((&sent.body["max_tokens"], sent.body.get("temperature")), (&json!(1_000), None));
    assert_eq!(sent.body["stop_sequences"], json!(["\nUser:", "MORE"]));
    assert!(!sent.body["system"].to_string().contains("holds only"), "{}", sent.body["system"]);
    let (sent, ran) = wire.run_prompt(&home, &["--profile", "hard"]);
    assert_eq!(sent.body["output_config"], json!({"effort": "high"}));
    assert!(ran.err.contains("--task-budget has no effect"), "{}", ran.err);
    assert_eq!((&sent.body["temperature"], &sent.body["max_tokens"]), (&json!(0.5), &json!(1_000)));
    assert!(sent.head.contains("anthropic-beta: b-1\r\n"), "{}", sent.head);
    assert_eq!(sent.body["system"][0]["cache_control"]["ttl"], "1h");
    let (sent, _) = wire.run_prompt(&home, &["--profile", "hard", "--effort", "medium"]);
    assert_eq!(sent.body["output_config"]["effort"], "medium", "the flag wins");
    for (bad, says) in [
        ("effort = \"huge\"\n", "unknown variant `huge`"),
        ("temperature = 3.0\n", "between 0 and 2"),
        ("stop_sequences = { x = \"explode\" }\n", "unknown variant `explode`"),
        ("[profiles.default]\neffort = 3\n", "line 3"),
    ] {
        home.write("home/config.toml", &format!("model = \"sonnet\"\n{bad}"));
        let ran = home.run_with_env(&["-p", "hi", "--store", "w.db"], &wire.keys());
        assert!(ran.code != 0 && ran.err.contains(says), "{bad}: {}", ran.err);
    }
}

/// An agent's file sets the reasoning effort of the agent.
// spec: MODELS-10
#[test]
fn an_agent_file_sets_the_effort_of_its_children() {
    let home = TestHome::new("when any\n  say \"hi\"\n");
    std::fs::create_dir_all(home.path("user/.claude/agents")).unwrap();
    let page = |effort: &str| {
        format!("---\nname: thinker\ndescription: thinks\neffort: {effort}\n---\nThink.\n")
    };
    home.write("user/.claude/agents/thinker.md", &page("huge"));
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.err.contains("unknown effort `huge`; use low, medium"), "{}", ran.err);
    home.write("user/.claude/agents/thinker.md", &page("high"));
    home.write(
        "a.script",
        "when user is \"go\" and results 0\n  call Agent {\"description\": \"d\", \"prompt\": \"think\", \
         \"subagent_type\": \"thinker\"}\nwhen any\n  say \"done\"\n",
    );
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Agent", "--conversation", "c"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "done\n"), "{}", ran.err);
    let store = std::fs::read(home.path("w.db")).unwrap();
    let stored = String::from_utf8_lossy(&store);
    assert!(stored.contains("\"agent\":\"thinker\""), "the child ran");
    assert!(stored.contains("\"effort\":\"high\"") && stored.contains("\"effort\":null"));
}

/// The effort of an agent's file, of a call and of a task is sent with the sub-agent's requests.
// spec: MODELS-10
#[test]
fn the_effort_of_a_child_reaches_the_wire() {
    let home = new_home("");
    std::fs::create_dir_all(home.path("user/.claude/agents")).unwrap();
    let page = "---\nname: thinker\ndescription: thinks\neffort: high\n---\nThink.\n";
    home.write("user/.claude/agents/thinker.md", page);
    let cases = [
        (
            r#"Agent", "input": {"description": "d", "prompt": "p", "subagent_type": "thinker"}"#,
            "high",
        ),
        (r#"Agent", "input": {"description": "d", "prompt": "p", "effort": "xhigh"}"#, "xhigh"),
        (
            r#"Agent", "input": {"description": "d", "prompt": "p", "subagent_type": "thinker", "effort": "low"}"#,
            "low",
        ),
        (r#"Agent", "input": {"description": "d", "prompt": "p"}"#, "medium"),
        (r#"spawn_child_runs", "input": {"tasks": [{"prompt": "p", "effort": "max"}]}"#, "max"),
    ];
    for (call, effort) in cases {
        let reply = format!(
            r#"{{"content": [{{"type": "tool_use", "id": "t1", "name": "{call}}}], "stop_reason": "tool_use",
            "usage": {{"input_tokens": 10, "output_tokens": 2}}}}"#
        );
        let wire = RecordingServer::start_failing(&[("200 OK", reply.leak())]);
        let flags =
            ["--model", "opus", "--effort", "medium", "--allowedTools", "Agent,spawn_child_runs"];
        let fixed = ["-p", "hi", "--store", "w.db"];
        let ran = home.run_with_env(&[&fixed[..], &flags].concat(), &wire.keys());
        assert_eq!((ran.code, ran.out.as_str()), (0, "Hello.\n"), "{call}: {}", ran.err);
        let asked: Vec<Value> = wire
            .recorded_requests()
            .iter()
            .map(|sent| sent.body["output_config"]["effort"].clone())
            .collect();
        assert_eq!(asked, [json!("medium"), json!(effort), json!("medium")], "{call}");
    }
}

/// The content of memory files is put before the prompt, in the first message and not in the system
/// prompt.
// spec: MODELS-02
#[test]
fn memory_files_are_prepended_to_the_first_message() {
    let (wire, home) = (RecordingServer::start(), new_home(""));
    home.write("CLAUDE.md", "Always answer in verse.\n");
    let (sent, _) = wire.run_prompt(&home, &["--model", "opus"]);
    assert!(!sent.body["system"].to_string().contains("in verse"), "{}", sent.body["system"]);
    let first = &sent.body["messages"][0];
    assert_eq!(first["role"], "user");
    let texts: Vec<&str> = first["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert!(texts[0].contains("Always answer in verse."), "{first}");
    assert_eq!(texts.last(), Some(&"hi"), "{first}");
    assert!(texts.len() > 1, "{first}");
}

/// In every wire format the model is told to plan; the note comes after the cached part of the
/// prompt.
// spec: PERMISSIONS-08
#[test]
fn plan_mode_is_told_in_every_wire_format() {
    let (wire, home) = (RecordingServer::start(), new_home(""));
    for model in ["opus", "gpt-6-sol", "openai-chat:gpt-4o"] {
        let (sent, _) = wire.run_prompt(&home, &["--model", model]);
        assert!(!sent.body.to_string().contains("Plan mode is on"), "{model}: {}", sent.body);
        let (sent, _) = wire.run_prompt(&home, &["--model", model, "--permission-mode", "plan"]);
        assert!(sent.body.to_string().contains("Plan mode is on"), "{model}: {}", sent.body);
        assert!(sent.body["tools"].to_string().contains("ExitPlanMode"), "{model}");
        if model == "opus" {
            let blocks = sent.body["system"].as_array().unwrap();
            let note =
                blocks.iter().position(|block| block.to_string().contains("Plan mode is on"));
            let marked = blocks.iter().rposition(|block| block.get("cache_control").is_some());
            assert!(note > marked, "{}", sent.body["system"]);
        }
    }
}

/// The cheap model of the same family writes summaries, unless another one is named.
// spec: WINDOW-04
#[test]
fn the_cheap_model_of_the_family_sums_up() {
    let long = "many words ".repeat(400);
    for (model, more, summed_up_by) in [
        ("opus", "", "claude-haiku-5-5"),
        ("gpt-6-sol", "", "gpt-6-luna"),
        ("opus", "summary_model = \"claude-sonnet-4-5\"\n", "claude-sonnet-4-5"),
    ] {
        let (wire, home) = (RecordingServer::start(), new_home(more));
        for _ in 0..6 {
            let prompt = ["-p", long.as_str(), "--store", "w.db", "--conversation", "c"];
            let ran = home.run_with_env(&[&prompt[..], &["--model", model]].concat(), &wire.keys());
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        let compact = ["compact", "c", "--store", "w.db"];
        let ran = home.run_with_env(&compact, &wire.keys());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let prompt = ["-p", "go on", "--store", "w.db", "--conversation", "c", "--model", model];
        home.run_with_env(&prompt, &wire.keys());
        let asked: Vec<Value> =
            wire.recorded_requests().iter().map(|sent| sent.body["model"].clone()).collect();
        assert!(asked.contains(&json!(summed_up_by)), "{model}: {asked:?}");
    }
}

#[test]
fn a_key_is_enough_to_choose_a_model() {
    let wire = RecordingServer::start();
    let home = new_home("");
    let asked = |only: &[&str], more: &[&str]| {
        let keys: Vec<_> =
            wire.keys().into_iter().filter(|(name, _)| only.contains(name)).collect();
        let bare = [&["-p", "hi", "--store", "w.db"], more].concat();
        let mut command = home.command(&bare);
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_MODEL"] {
            command.env_remove(name);
        }
        command.envs(keys).stdin(std::process::Stdio::null());
        let ran = crate::test_home::CommandOutput::from(command.output().unwrap());
        let model = wire.recorded_requests().last().map(|sent| sent.body["model"].clone());
        (ran, model)
    };
    let (ran, _) = asked(&[], &[]);
    assert!(ran.code != 0 && ran.err.contains("no model chosen"), "{}", ran.err);
    assert!(ran.err.contains("ANTHROPIC_API_KEY"), "{}", ran.err);
    let anthropic = ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"];
    let openai = ["OPENAI_API_KEY", "OPENAI_BASE_URL"];
    let gemini = ["GEMINI_API_KEY", "GEMINI_BASE_URL"];
    assert_eq!(asked(&anthropic, &[]).1, Some(json!("claude-sonnet-5-5")));
    assert_eq!(asked(&openai, &[]).1, Some(json!("gpt-6-sol")));
    assert_eq!(asked(&[&anthropic[..], &openai].concat(), &[]).1, Some(json!("claude-sonnet-5-5")));
    assert_eq!(asked(&gemini, &[]).1, Some(json!("gemini-2.5-pro")));
    let azure = ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"];
    assert_eq!(asked(&azure, &["--model", "azure:mine"]).1, Some(json!("mine")));
    let path = wire.recorded_requests().last().unwrap().head.clone();
    assert!(path.starts_with("POST /openai/v1/responses "), "{path}");
    assert!(path.contains("authorization: Bearer k\r\n"), "{path}");
    let (ran, _) = asked(&["AZURE_OPENAI_API_KEY"], &["--model", "azure:mine"]);
    assert!(ran.code != 0 && ran.err.contains("set AZURE_OPENAI_ENDPOINT"), "{}", ran.err);
}

#[test]
fn context_is_counted_by_the_provider_where_it_can() {
    let wire = RecordingServer::start();
    let home = new_home("");
    wire.run_prompt(&home, &["--model", "sonnet", "--conversation", "a"]);
    wire.run_prompt(&home, &["--model", "openai-chat:gpt-4o", "--conversation", "o"]);
    let context = |what: &str, lane: &str| {
        home.run_with_env(&["-p", what, "--store", "w.db", "--conversation", lane], &wire.keys())
    };
    let ran = context("/context --exact", "a");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("the provider counts 4,321 tokens"), "{}", ran.out);
    let asked = wire.recorded_requests();
    let counted = asked.last().unwrap();
    assert!(counted.head.starts_with("POST /v1/messages/count_tokens "), "{}", counted.head);
    assert_eq!(counted.body["messages"][0]["content"][0]["text"], "hi");
    assert_eq!(counted.body.get("max_tokens"), None);
    assert!(!context("/context", "a").out.contains("the provider counts"));
    let ran = context("/context --exact", "o");
    assert!(ran.code != 0 && ran.err.contains("cannot count tokens"), "{}", ran.err);
    let ran = context("/context --exactly", "a");
    assert!(ran.code != 0 && ran.err.contains("write /context or /context --exact"), "{}", ran.err);
}

#[test]
fn models_lists_providers_windows_prices_and_keys() {
    let home = new_home(
        "[providers.lab]\nformat = \"openai_chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
         [models.small]\nwindow_tokens = 8192\n",
    );
    let keys = [("ANTHROPIC_API_KEY", "secret-key")];
    let ran = home.run_with_env(&["models"], &keys);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for line in
        ["anthropic    key set", "lab          no key needed", "small", "8,192", "price unknown"]
    {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(!ran.out.contains("secret-key"), "{}", ran.out);
    let ran = home.run_with_env(&["models", "--json"], &keys);
    let rows: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |kind: &str, name: &str| {
        rows.iter().find(|row| row["type"] == kind && row["name"] == name).unwrap().clone()
    };
    assert_eq!(find("provider", "anthropic")["key"], "set");
    assert_eq!(find("provider", "groq")["key"], "missing");
    let sonnet = find("model", "claude-sonnet-5-5");
    assert_eq!(
        (&sonnet["provider"], &sonnet["window_tokens"]),
        (&json!("anthropic"), &json!(1_000_000))
    );
    assert_eq!(sonnet["prices"]["output"], 10.0);
    let small = find("model", "small");
    assert_eq!((&small["prices"], &small["provider"]), (&Value::Null, &Value::Null));
}

/// An unusable provider is an error of the configuration: for a run, for doctor and for the list.
#[test]
fn a_provider_without_an_address_is_an_error_everywhere() {
    for (row, says) in [
        ("format = \"openai_chat\"\n", "provider `lab` has no base_url"),
        ("base_url = \"http://127.0.0.1:9\"\n", "provider `lab` has no format"),
        (
            "format = \"openai_chat\"\nbase_url = \"127.0.0.1:9\"\n",
            "must be an http:// or https:// URL",
        ),
    ] {
        let home = new_home(&format!("[providers.lab]\n{row}"));
        home.write("a.script", "when any\n  say \"hi\"\n");
        let runs: [&[&str]; 3] = [
            &["-p", "hi", "--script", "a.script", "--store", "w.db"],
            &["-p", "hi", "--model", "lab:x", "--store", "w.db"],
            &["models"],
        ];
        for run in runs {
            let ran = home.run_bare(run);
            assert!(ran.code != 0 && ran.err.contains(says), "{run:?}: {}", ran.err);
        }
        let ran = home.run_bare(&["doctor", "--store", "w.db"]);
        assert!(
            ran.code != 0 && ran.out.contains("BROKEN") && ran.out.contains(says),
            "{}",
            ran.out
        );
    }
}

#[test]
fn doctor_names_the_model_its_window_and_its_price() {
    let home = new_home(
        "model = \"lab:small\"\n[providers.lab]\nformat = \"openai_chat\"\n\
         base_url = \"http://127.0.0.1:9/v1\"\n[models.small]\nwindow_tokens = 8192\n",
    );
    let ran = home.run_bare(&["doctor", "--store", "w.db"]);
    let line = ran.out.lines().find(|line| line.contains("lab:small")).unwrap_or_default();
    assert!(
        line.contains("a window of 8,192 tokens, price unknown (give it in [models."),
        "{}",
        ran.out
    );
}
