//! What a request asks for is sent; what is not supported is left out and reported once.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::log::record::ToolChoice;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::transcript::Transcript;
use windlass_core::settings::conversation_settings::{
    Effort, ModelSpec as ModelSettings, Settings, ToolForcing,
};
use windlass_providers::catalog::provider_table::{ProviderTable, WireFormat};
use windlass_providers::{CallNotice, CallOptions, ModelRegistry, RemoteModel, notices_in};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, endpoint, joined, prompt, push_round, request_with, shared};
use crate::byte_server::{ByteServer, streamed};
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

const NOWHERE: &str = "http://127.0.0.1:1";

fn model(format: WireFormat, url: &str, name: &str) -> RemoteModel {
    let mut endpoint = endpoint(format, url);
    endpoint.model = Arc::from(name);
    RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap()
}

fn sent(format: WireFormat, name: &str, request: &ModelRequest) -> Value {
    serde_json::from_str(&joined(&model(format, NOWHERE, name).request_body(request))).unwrap()
}

fn messages(name: &str, change: impl FnOnce(&mut Settings)) -> Value {
    sent(WireFormat::AnthropicMessages, name, &request_with(change))
}

fn only(tool: &str, change: impl FnOnce(&mut Settings)) -> ModelRequest {
    ModelRequest { choice: ToolChoice::Tool(Arc::from(tool)), ..request_with(change) }
}

fn unchanged(_: &mut Settings) {}

async fn answered(
    format: WireFormat,
    name: &str,
    request: &ModelRequest,
    story: &str,
) -> ModelReply {
    let bytes = cassette(format, story);
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    model(format, &server.url, name).call(request.clone(), RecordingStream::new()).await.unwrap()
}

#[test]
fn a_choice_of_tools_is_sent_in_every_format() {
    let nothing = ModelRequest { choice: ToolChoice::NoTools, ..request_with(unchanged) };
    let (open, read) = (request_with(unchanged), only("Read", unchanged));
    let named = [
        json!({"type": "tool", "name": "Read"}),
        json!({"type": "function", "function": {"name": "Read"}}),
        json!({"type": "function", "name": "Read"}),
    ];
    let none = [json!({"type": "none"}), json!("none"), json!("none")];
    for ((format, named), none) in FORMATS.into_iter().zip(named).zip(none) {
        assert_eq!(sent(format, "m", &open).get("tool_choice"), None);
        assert_eq!(sent(format, "m", &read)["tool_choice"], named);
        assert_eq!(sent(format, "m", &nothing)["tool_choice"], none);
        for request in [&open, &read, &nothing] {
            assert_eq!(sent(format, "m", request)["tools"].as_array().unwrap().len(), 2);
        }
        // Without tools there is no tool choice.
        let bare =
            ModelRequest { choice: ToolChoice::NoTools, ..request_with(|s| s.tools.clear()) };
        assert_eq!(sent(format, "m", &bare).get("tool_choice"), None);
    }
}

/// Returns whether the model is offered only the one tool, and the prompt asks to call it.
fn is_asked(body: &Value) -> bool {
    let system = body["system"].to_string();
    body.get("tool_choice").is_none()
        && body["tools"].as_array().unwrap().len() == 1
        && system.contains("Call the tool `Read` now.")
}

// spec: GUARDS-07
#[test]
fn a_model_that_cannot_be_forced_is_offered_the_one_tool() {
    let anthropic =
        |name, request: &ModelRequest| sent(WireFormat::AnthropicMessages, name, request);
    let budget = |settings: &mut Settings| settings.thinking.budget_tokens = Some(2_000);
    assert!(is_asked(&anthropic("claude-opus-5-5", &only("Read", unchanged))));
    assert!(is_asked(&anthropic("claude-haiku-4-5", &only("Read", budget))));
    assert!(!is_asked(&anthropic("claude-haiku-4-5", &only("Read", unchanged))));
    assert!(!is_asked(&anthropic("claude-opus-4-6", &only("Read", unchanged))), "adaptive may");
    let told = only("Read", |settings| settings.model.forcing = ToolForcing::Unsupported);
    assert!(is_asked(&anthropic("claude-haiku-4-5", &told)), "the settings say so");
    let chat = sent(WireFormat::OpenAiChat, "m", &told);
    assert_eq!(chat["tools"].as_array().unwrap().len(), 1);
    assert!(chat["messages"][0]["content"].as_str().unwrap().ends_with("`Read` now."));
    let missing = anthropic("claude-haiku-4-5", &only("Absent", unchanged));
    assert_eq!(missing.get("tool_choice"), None, "a tool that is not there cannot be named");
    assert_eq!(missing["tools"].as_array().unwrap().len(), 2);
}

#[test]
fn a_server_that_takes_no_names_gets_the_one_tool() {
    for format in [WireFormat::OpenAiChat, WireFormat::OpenAiResponses] {
        let mut endpoint = endpoint(format, NOWHERE);
        endpoint.dialect.named_choice.0 = false;
        let model = RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap();
        let body = joined(&model.request_body(&only("Write", unchanged)));
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["tool_choice"], "required");
        assert!(body["tools"][0].to_string().contains("Write"));
        assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_ignores_a_tool_choice_is_noticed() {
    for format in FORMATS {
        let ignored = [CallNotice::ToolChoiceIgnored];
        let read = only("Read", unchanged);
        assert_eq!(notices_in(&answered(format, "m", &read, "text").await), ignored, "{format:?}");
        assert_eq!(notices_in(&answered(format, "m", &read, "calls").await), [], "{format:?}");
        let write = only("Write", unchanged);
        let reply = answered(format, "m", &write, "calls").await;
        assert_eq!(notices_in(&reply), ignored, "{format:?}: it called another tool");
    }
}

/// Efforts have names of their own; whether and how a model thinks is another setting.
// spec: MODELS-10
#[tokio::test]
async fn effort_is_sent_where_it_is_known_and_told_where_it_is_not() {
    let with = |effort| request_with(|settings| settings.thinking.effort = effort);
    let unset = sent(WireFormat::AnthropicMessages, "claude-opus-5", &with(None));
    assert_eq!(unset.get("output_config"), None, "unset by default");
    for (effort, word) in [
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Xhigh, "xhigh"),
        (Effort::Max, "max"),
    ] {
        let hard = sent(WireFormat::AnthropicMessages, "claude-opus-5", &with(Some(effort)));
        assert_eq!(hard["output_config"]["effort"], word);
        assert_eq!(hard.get("thinking"), unset.get("thinking"), "effort does not touch thinking");
    }
    let high = with(Some(Effort::High));
    let responses = sent(WireFormat::OpenAiResponses, "gpt-5.5", &high);
    assert_eq!(responses["reasoning"], json!({"effort": "high"}));
    assert_eq!(sent(WireFormat::OpenAiChat, "gpt-5.5", &high)["reasoning_effort"], "high");
    for format in FORMATS {
        let reply = answered(format, "some-model", &high, "text").await;
        assert_eq!(notices_in(&reply), [CallNotice::EffortIgnored], "{format:?}");
        let body = sent(format, "some-model", &high).to_string();
        assert!(!body.contains("effort"), "{format:?}");
        assert_eq!(notices_in(&answered(format, "some-model", &with(None), "text").await), []);
    }
    let max = with(Some(Effort::Max));
    assert_eq!(sent(WireFormat::OpenAiChat, "gpt-5.5", &max)["reasoning_effort"], "xhigh");
    let reply = answered(WireFormat::OpenAiChat, "gpt-5.5", &max, "text").await;
    assert_eq!(notices_in(&reply), [CallNotice::EffortLowered]);
}

#[test]
fn thinking_is_free_bounded_or_off() {
    let with = |name, tokens| {
        messages(name, |settings| settings.thinking.budget_tokens = tokens)["thinking"].clone()
    };
    assert_eq!(with("claude-opus-4-8", None), json!({"type": "adaptive"}));
    assert_eq!(with("claude-opus-5-5", None), Value::Null, "it thinks as it likes anyway");
    assert_eq!(with("claude-haiku-4-5", None), Value::Null, "it has no such thinking");
    assert_eq!(with("some-model", None), Value::Null, "its server knows best");
    let budget = json!({"type": "enabled", "budget_tokens": 2_000});
    assert_eq!(with("claude-haiku-4-5", Some(2_000)), budget);
    assert_eq!(with("some-model", Some(2_000)), budget);
    assert_eq!(with("claude-haiku-4-5", Some(9_000))["budget_tokens"], 3_999, "below the cap");
    assert_eq!(with("claude-haiku-4-5", Some(100)), Value::Null, "less than the API takes");
    assert_eq!(with("claude-opus-4-8", Some(2_000))["type"], "adaptive", "the next best");
    assert_eq!(with("claude-opus-4-8", Some(0))["type"], "disabled");
    assert_eq!(with("claude-sonnet-5-5", Some(0))["type"], "between_tools");
    assert_eq!(with("claude-opus-5-5", Some(0)), Value::Null, "it cannot be turned off");
    let hard = |effort| {
        let body = messages("claude-opus-5", |settings| {
            settings.thinking.budget_tokens = Some(0);
            settings.thinking.effort = Some(effort);
        });
        body["thinking"].clone()
    };
    assert_eq!(hard(Effort::High)["type"], "disabled");
    assert_eq!(hard(Effort::Max), Value::Null, "at such an effort it always thinks");
}

/// A classifier with an output limit of one word must not spend it on thinking.
#[test]
fn a_short_answer_leaves_no_room_for_thoughts() {
    let mut request = request_with(unchanged);
    request.max_tokens = 64;
    let short = |name| sent(WireFormat::AnthropicMessages, name, &request)["thinking"].clone();
    assert_eq!(short("claude-opus-5")["type"], "disabled");
    assert_eq!(short("claude-opus-5-5"), Value::Null);
    assert_eq!(short("claude-haiku-4-5")["type"], "disabled");
}

#[test]
fn thinking_without_a_field_is_told_to_nobody() {
    for format in [WireFormat::OpenAiChat, WireFormat::OpenAiResponses] {
        let with = |name, tokens| {
            let request = request_with(|settings| settings.thinking.budget_tokens = tokens);
            sent(format, name, &request).to_string()
        };
        assert!(with("some-model", Some(0)).contains(r#""none""#));
        for (name, tokens) in [
            ("gpt-4o", Some(0)),
            ("gpt-5.5", Some(0)),
            ("some-model", None),
            ("some-model", Some(2_000)),
        ] {
            let body = with(name, tokens);
            assert!(!body.contains(r#"_effort""#) && !body.contains(r#""reasoning":"#), "{body}");
        }
    }
}

#[test]
fn a_task_budget_and_the_user_are_sent() {
    let mut endpoint = endpoint(WireFormat::AnthropicMessages, NOWHERE);
    endpoint.model = Arc::from("claude-opus-5");
    let options = CallOptions { user: Some("u-1".into()), ..CallOptions::default() };
    let model = RemoteModel::new(endpoint, shared(), options).unwrap();
    let request = request_with(|settings| settings.thinking.task_tokens = Some(64_000));
    let body: Value = serde_json::from_str(&joined(&model.request_body(&request))).unwrap();
    assert_eq!(body["output_config"], json!({"task_budget": {"type": "tokens", "total": 64_000}}));
    assert_eq!(body["metadata"], json!({"user_id": "u-1"}));
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn what_is_left_out_is_told_once_in_a_conversation() {
    let request = request_with(|settings| {
        settings.thinking.effort = Some(Effort::High);
        settings.thinking.budget_tokens = Some(5_000);
        settings.thinking.task_tokens = Some(50_000);
        settings.thinking.betas = vec!["one-2026".into()];
    });
    let bytes = cassette(WireFormat::OpenAiChat, "text");
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let model = model(WireFormat::OpenAiChat, &server.url, "some-model");
    let mut told = Vec::new();
    for round in 0..3 {
        let mut request = request.clone();
        (0..round).for_each(|round| push_round(&mut request.transcript, round));
        told.push(notices_in(&model.call(request, RecordingStream::new()).await.unwrap()));
    }
    let all = [
        CallNotice::EffortIgnored,
        CallNotice::ThinkingIgnored,
        CallNotice::TaskBudgetIgnored,
        CallNotice::BetasIgnored,
    ];
    assert_eq!(told, [all.to_vec(), vec![], vec![]]);
    let mut other = request.clone();
    other.transcript = prompt("another");
    assert_eq!(notices_in(&model.call(other, RecordingStream::new()).await.unwrap()), all);
    assert!(!server.asked()[0].head.contains("one-2026"));
}

#[tokio::test]
async fn a_beta_no_header_can_hold_is_said() {
    let request = request_with(|settings| settings.thinking.betas = vec!["a\nb".into()]);
    let model = model(WireFormat::AnthropicMessages, NOWHERE, "m");
    let failure = model.call(request, RecordingStream::new()).await.unwrap_err();
    assert!(failure.message.contains("check the settings"), "{}", failure.message);
}

/// A request with everything it can carry.
// spec: MODELS-02
#[tokio::test]
async fn a_request_carries_everything_there_is_to_say() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let url = server.url.clone();
    let variables = move |name: &str| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    };
    let variables = Arc::new(variables);
    let models =
        ModelRegistry::new(shared(), ProviderTable::built_in(), CallOptions::default(), variables);
    let mut request = request_with(|settings| {
        settings.model = ModelSettings::with_defaults("claude-opus-5");
        settings.fallback = Some(ModelSettings::with_defaults("claude-sonnet-4-6"));
        settings.thinking.effort = Some(Effort::Medium);
        settings.thinking.task_tokens = Some(64_000);
        settings.thinking.betas = vec!["one-2026".into()];
    });
    let mut transcript = Transcript::default();
    transcript.push_note("What the user's files say.");
    transcript.push_prompt(&[ContentBlock::text("go")]);
    request.transcript = transcript;
    models.call(request.clone(), RecordingStream::new()).await.unwrap();
    let fallback = request.settings.fallback.clone().unwrap();
    let settings = Settings { model: fallback, ..(*request.settings).clone() };
    let other = ModelRequest { settings: Arc::new(settings), ..request.clone() };
    models.call(other, RecordingStream::new()).await.unwrap();

    let asked = server.asked();
    let sent: Value = serde_json::from_str(&asked[0].body).unwrap();
    let marked = json!({"type": "ephemeral"});
    assert_eq!(sent["messages"][0]["content"][0]["text"], "What the user's files say.");
    assert_eq!(sent["messages"][0]["content"][1]["text"], "go");
    assert_eq!(sent["messages"][0]["content"][1]["cache_control"], marked);
    assert_eq!(sent["system"][0]["text"], "You are a test.");
    assert_eq!(sent["system"][0]["cache_control"], marked);
    assert_eq!(sent["thinking"], json!({"type": "adaptive"}));
    assert_eq!(
        (&sent["tools"][0]["name"], &sent["tools"][1]["name"]),
        (&json!("Read"), &json!("Write"))
    );
    assert_eq!(sent["tools"][1]["cache_control"], marked);
    assert_eq!(sent["model"], "claude-opus-5");
    assert_eq!(sent["output_config"]["effort"], "medium");
    assert_eq!(sent["output_config"]["task_budget"]["total"], 64_000);
    assert!(asked[0].head.contains("anthropic-beta: one-2026,task-budgets-2026-03-13"));
    let sent: Value = serde_json::from_str(&asked[1].body).unwrap();
    assert_eq!(sent["model"], "claude-sonnet-4-6");
}

#[test]
fn the_digest_belongs_to_the_system_prompt_and_changes_only_the_head() {
    for format in FORMATS {
        let model = model(format, NOWHERE, "m");
        let mut request = request_with(unchanged);
        (0..5).for_each(|round| push_round(&mut request.transcript, round));
        let before = model.request_body(&request);
        request.journal_digest = Arc::from("Found: the key is under the mat.");
        let after = model.request_body(&request);
        let body: Value = serde_json::from_str(&joined(&after)).unwrap();
        let system = match format {
            WireFormat::AnthropicMessages => {
                assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
                assert_eq!(body["system"][1].get("cache_control"), None, "it comes and goes");
                let text = |at: usize| body["system"][at]["text"].as_str().unwrap();
                format!("{}\n\n{}", text(0), text(1))
            }
            WireFormat::OpenAiChat => body["messages"][0]["content"].as_str().unwrap().to_owned(),
            WireFormat::OpenAiResponses => body["instructions"].as_str().unwrap().to_owned(),
        };
        assert_eq!(system, request.system_prompt());
        assert_eq!(before.len(), after.len());
        for (old, new) in before.iter().zip(&after).skip(1).take(before.len() - 2) {
            assert_eq!(
                old.as_ptr(),
                new.as_ptr(),
                "{format:?}: the conversation is not encoded again"
            );
        }
        assert_eq!(model.request_body(&request)[0].as_ptr(), after[0].as_ptr(), "the head is kept");
    }
}

// spec: BUDGETS-08
#[test]
fn what_is_left_of_a_task_budget_is_sent() {
    let mut endpoint = endpoint(WireFormat::AnthropicMessages, NOWHERE);
    endpoint.model = Arc::from("claude-opus-5");
    let model = RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap();
    let request = request_with(|settings| settings.thinking.task_tokens = Some(64_000));
    let request = ModelRequest { task_remaining_tokens: Some(9_000), ..request };
    let body: Value = serde_json::from_str(&joined(&model.request_body(&request))).unwrap();
    let budget = json!({"type": "tokens", "total": 64_000, "remaining": 9_000});
    assert_eq!(body["output_config"]["task_budget"], budget);
}
