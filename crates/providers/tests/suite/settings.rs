//! What is asked for is sent, what cannot be had is told.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::reply::Reply;
use windlass_core::settings::{Model as ModelSettings, Settings};
use windlass_providers::names::{Format, Providers};
use windlass_providers::{Effort, Models, Notice, Options, Remote, Thinking, ToolChoice, notices};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, endpoint, joined, prompt, remote, request, shared};
use crate::heard::Heard;
use crate::scenarios::{FORMATS, cassette};
use crate::server::{Server, streamed, whole};

const NOWHERE: &str = "http://127.0.0.1:1";

fn body(format: Format, model: &str, options: Options) -> Value {
    let mut endpoint = endpoint(format, NOWHERE);
    endpoint.model = Arc::from(model);
    let model = Remote::new(endpoint, shared(), options).unwrap();
    serde_json::from_str(&joined(&model.body(&request(prompt("go"))))).unwrap()
}

async fn answered(format: Format, model: &str, options: Options, story: &str) -> Reply {
    let bytes = cassette(format, story);
    let server = Server::start(move |_, _| streamed(&bytes)).await;
    let mut endpoint = endpoint(format, &server.url);
    endpoint.model = Arc::from(model);
    let model = Remote::new(endpoint, shared(), options).unwrap();
    model.ask(request(prompt("go")), Heard::new()).await.unwrap()
}

// spec: MODELS-03
#[test]
fn model_output_cap_and_stop_strings_are_sent_as_configured() {
    let mut settings = Settings::new(ModelSettings::named("claude-sonnet-4-6"));
    settings.model.max_tokens = 4_096;
    let mut request = request(prompt("go"));
    request.settings = Arc::new(settings);
    request.max_tokens = 4_096;
    let sent = |format| {
        let mut endpoint = endpoint(format, NOWHERE);
        endpoint.model = Arc::from("claude-sonnet-4-6");
        let model = Remote::new(endpoint, shared(), Options::default()).unwrap();
        serde_json::from_str::<Value>(&joined(&model.body(&request))).unwrap()
    };
    let messages = sent(Format::AnthropicMessages);
    assert_eq!(messages["model"], "claude-sonnet-4-6");
    assert_eq!(messages["max_tokens"], 4_096);
    assert_eq!(messages["stop_sequences"], json!(["\n---END---", "\nUser:"]));
    let chat = sent(Format::OpenAiChat);
    assert_eq!((&chat["max_tokens"], &chat["stop"]), (&json!(4_096), &messages["stop_sequences"]));
    // This format has no field for them: they are watched for here, and the text ends before.
    assert_eq!(sent(Format::OpenAiResponses)["max_output_tokens"], 4_096);
}

// spec: MODELS-03
#[tokio::test]
async fn output_ends_just_before_a_stop_string() {
    for format in FORMATS {
        let reply = answered(format, "test-model", Options::default(), "stop_string").await;
        assert_eq!(reply.text(), "Done.", "{format:?}");
    }
}

#[test]
fn every_option_of_anthropic_is_sent() {
    let options = Options {
        effort: Some(Effort::High),
        thinking: Thinking::Adaptive,
        tool_choice: ToolChoice::Tool("Read".into()),
        user: Some("u-1".into()),
        task_budget_tokens: Some(64_000),
        ..Options::default()
    };
    let sent = body(Format::AnthropicMessages, "claude-opus-5", options);
    assert_eq!(sent["thinking"], json!({"type": "adaptive"}));
    let config = json!({"effort": "high", "task_budget": {"type": "tokens", "total": 64_000}});
    assert_eq!(sent["output_config"], config);
    assert_eq!(sent["tool_choice"], json!({"type": "tool", "name": "Read"}));
    assert_eq!(sent["metadata"], json!({"user_id": "u-1"}));
    assert_eq!(sent["stream"], true);
}

#[test]
fn a_budget_for_thinking_stays_below_the_output_cap() {
    let budget = |tokens| Options { thinking: Thinking::Budget { tokens }, ..Options::default() };
    let mut asked = request(prompt("go"));
    asked.max_tokens = 4_000;
    let sent = |options| {
        let mut endpoint = endpoint(Format::AnthropicMessages, NOWHERE);
        endpoint.model = Arc::from("claude-haiku-4-5");
        let model = Remote::new(endpoint, shared(), options).unwrap();
        serde_json::from_str::<Value>(&joined(&model.body(&asked))).unwrap()
    };
    assert_eq!(sent(budget(2_000))["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    assert_eq!(sent(budget(9_000))["thinking"]["budget_tokens"], 3_999);
    assert_eq!(sent(budget(100)).get("thinking"), None);
}

/// What each model can do decides what it is asked with.
#[test]
fn what_a_model_cannot_do_is_not_asked_of_it() {
    let forced = || Options { tool_choice: ToolChoice::Tool("Read".into()), ..Options::default() };
    let anthropic = |model, options| body(Format::AnthropicMessages, model, options);
    let newest = anthropic("claude-opus-5-5", forced());
    assert_eq!(newest.get("tool_choice"), None);
    assert_eq!(newest["tools"].as_array().unwrap().len(), 1, "only the wanted tool is left");
    assert!(newest["system"][1]["text"].as_str().unwrap().contains("`Read`"));
    let budget = Options { thinking: Thinking::Budget { tokens: 2_000 }, ..forced() };
    assert_eq!(anthropic("claude-haiku-4-5", budget).get("tool_choice"), None);
    assert!(anthropic("claude-haiku-4-5", forced()).get("tool_choice").is_some());
    let off = || Options { thinking: Thinking::Off, ..Options::default() };
    assert_eq!(anthropic("claude-opus-5-5", off()).get("thinking"), None);
    assert_eq!(anthropic("claude-sonnet-5-5", off())["thinking"]["type"], "between_tools");
    assert_eq!(anthropic("claude-opus-4-6", off())["thinking"]["type"], "disabled");
}

#[tokio::test]
async fn effort_is_sent_where_it_is_known_and_told_where_it_is_not() {
    let with = |effort| Options { effort, ..Options::default() };
    for (effort, word) in [
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Xhigh, "xhigh"),
        (Effort::Max, "max"),
    ] {
        let sent = body(Format::AnthropicMessages, "claude-opus-5", with(Some(effort)));
        assert_eq!(sent["output_config"]["effort"], word);
        assert_eq!(sent.get("thinking"), None, "effort and thinking are two things");
    }
    assert_eq!(
        body(Format::AnthropicMessages, "claude-opus-5", with(None)).get("output_config"),
        None
    );
    let sent = body(Format::OpenAiResponses, "gpt-5.5", with(Some(Effort::High)));
    assert_eq!(sent["reasoning"], json!({"effort": "high"}));
    let sent = body(Format::OpenAiChat, "gpt-5.5", with(Some(Effort::Low)));
    assert_eq!(sent["reasoning_effort"], "low");
    for format in FORMATS {
        let reply = answered(format, "some-model", with(Some(Effort::High)), "text").await;
        assert_eq!(notices(&reply), [Notice::EffortIgnored], "{format:?}");
        let reply = answered(format, "some-model", with(None), "text").await;
        assert_eq!(notices(&reply), [], "{format:?}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_a_tool_choice_is_noticed() {
    for format in FORMATS {
        for choice in [ToolChoice::Any, ToolChoice::Tool("Read".into())] {
            let options = Options { tool_choice: choice, ..Options::default() };
            let reply = answered(format, "test-model", options.clone(), "text").await;
            assert_eq!(notices(&reply), [Notice::ToolChoiceIgnored], "{format:?}");
            let reply = answered(format, "test-model", options, "calls").await;
            assert_eq!(notices(&reply), [], "{format:?}");
        }
    }
}

#[test]
fn a_server_that_takes_no_names_gets_the_one_tool() {
    let mut endpoint = endpoint(Format::OpenAiChat, NOWHERE);
    endpoint.dialect.named_choice.0 = false;
    let options = Options { tool_choice: ToolChoice::Tool("Write".into()), ..Options::default() };
    let model = Remote::new(endpoint, shared(), options).unwrap();
    let sent: Value = serde_json::from_str(&joined(&model.body(&request(prompt("go"))))).unwrap();
    assert_eq!(sent["tool_choice"], "required");
    assert_eq!(sent["tools"][0]["function"]["name"], "Write");
    assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn keys_versions_and_betas_travel_in_headers() {
    let bytes = cassette(Format::AnthropicMessages, "text");
    let server = Server::start(move |_, _| streamed(&bytes)).await;
    let options = Options {
        betas: vec!["one-2026".into()],
        task_budget_tokens: Some(20_000),
        ..Options::default()
    };
    let model = remote(Format::AnthropicMessages, &format!("{}/v1/", server.url), options);
    model.ask(request(prompt("go")), Heard::new()).await.unwrap();
    let head = &server.asked()[0].head;
    assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
    for line in [
        &format!("x-api-key: {KEY}"),
        "anthropic-version: 2023-06-01",
        "anthropic-beta: one-2026,task-budgets-2026-03-13",
        "content-type: application/json",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
    for format in [Format::OpenAiChat, Format::OpenAiResponses] {
        let bytes = cassette(format, "text");
        let server = Server::start(move |_, _| streamed(&bytes)).await;
        let model = remote(format, &format!("{}/v1", server.url), Options::default());
        model.ask(request(prompt("go")), Heard::new()).await.unwrap();
        let head = &server.asked()[0].head;
        assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
        assert!(head.starts_with("POST /v1/"), "{head}");
    }
}

#[tokio::test]
async fn tokens_can_be_counted() {
    let server = Server::start(|_, _| whole("200 OK", "", r#"{"input_tokens": 42}"#)).await;
    let model = remote(Format::AnthropicMessages, &server.url, Options::default());
    assert_eq!(model.count_tokens(&request(prompt("go"))).await, Ok(42));
    let asked = &server.asked()[0];
    assert!(asked.head.starts_with("POST /v1/messages/count_tokens "));
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!((body.get("max_tokens"), body.get("stream")), (None, None));
    let chat = remote(Format::OpenAiChat, &server.url, Options::default());
    assert!(chat.count_tokens(&request(prompt("go"))).await.is_err());
}

#[tokio::test]
async fn an_output_limit_is_learned_and_kept() {
    let bytes = cassette(Format::AnthropicMessages, "text");
    let said = r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 1000 > 800, which is the maximum allowed number of output tokens for test-model"}}"#;
    let server = Server::start(move |_, asked| {
        let fits = asked.body.contains("\"max_tokens\":800");
        if fits { streamed(&bytes) } else { whole("400 No", "", said) }
    })
    .await;
    let model = remote(Format::AnthropicMessages, &server.url, Options::default());
    for asked in [2, 3] {
        let reply = model.ask(request(prompt("go")), Heard::new()).await.unwrap();
        assert_eq!(notices(&reply), [Notice::OutputLimitLowered]);
        assert_eq!(server.asked().len(), asked, "learned once");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_asked_without() {
    let whole_reply = r#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let server = Server::start(move |_, asked| {
        if asked.body.contains("\"stream\":true") {
            whole(
                "400 No",
                "",
                r#"{"error":{"message":"streaming is not supported by this model"}}"#,
            )
        } else {
            whole("200 OK", "content-type: application/json\r\n", whole_reply)
        }
    })
    .await;
    let model = remote(Format::OpenAiChat, &server.url, Options::default());
    for asked in [2, 3] {
        let reply = model.ask(request(prompt("go")), Heard::new()).await.unwrap();
        assert_eq!(notices(&reply), [Notice::NotStreamed]);
        assert_eq!(server.asked().len(), asked, "learned once");
    }
}

#[tokio::test]
async fn thoughts_a_server_does_not_accept_are_left_out() {
    let bytes = cassette(Format::AnthropicMessages, "text");
    let said = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    let server = Server::start(move |_, asked| {
        let thinks = asked.body.contains("\"thinking\"");
        if thinks { whole("400 No", "", said) } else { streamed(&bytes) }
    })
    .await;
    let model = remote(Format::AnthropicMessages, &server.url, Options::default());
    let mut transcript = prompt("go");
    let thought = r#"{"type":"thinking","thinking":"hm","signature":"of another"}"#;
    let thought =
        windlass_core::block::Block::new(windlass_core::raw::Raw::parse(thought).unwrap());
    transcript.push_reply(&[thought, windlass_core::block::Block::text("Hello.")]);
    transcript.push_prompt(&[windlass_core::block::Block::text("And?")]);
    let request = request(transcript);
    model.ask(request.clone(), Heard::new()).await.unwrap();
    model.ask(request, Heard::new()).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_name_in_the_settings_chooses_the_model() {
    let bytes: Vec<Vec<u8>> = FORMATS.iter().map(|format| cassette(*format, "text")).collect();
    let server = Server::start(move |_, asked| {
        let at = ["/v1/messages", "/chat/completions", "/responses"]
            .iter()
            .position(|path| asked.head.contains(path));
        streamed(&bytes[at.unwrap()])
    })
    .await;
    let url = server.url.clone();
    let variables = move |name: &str| match name {
        "ANTHROPIC_BASE_URL" | "OPENAI_BASE_URL" | "OLLAMA_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    };
    let models =
        Models::new(shared(), Providers::built_in(), Options::default(), Arc::new(variables));
    for name in ["claude-sonnet-4-6", "openai:gpt-5.5", "ollama:llama3:8b", "openai-chat:gpt-4o"] {
        let mut request = request(prompt("go"));
        request.settings = Arc::new(Settings::new(ModelSettings::named(name)));
        let reply = models.ask(request, Heard::new()).await.unwrap();
        assert!(reply.text().starts_with("Grüße"), "{name}");
    }
    let sent: Vec<Value> =
        server.asked().iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    let names: Vec<&Value> = sent.iter().map(|body| &body["model"]).collect();
    assert_eq!(names, ["claude-sonnet-4-6", "gpt-5.5", "llama3:8b", "gpt-4o"]);
    for (name, wanted) in [("mystery", "no provider is known"), ("groq:x", "set GROQ_API_KEY")] {
        let mut request = request(prompt("go"));
        request.settings = Arc::new(Settings::new(ModelSettings::named(name)));
        let failure = models.ask(request, Heard::new()).await.unwrap_err();
        assert!(failure.message.contains(wanted), "{}", failure.message);
    }
}
