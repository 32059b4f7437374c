//! Settings that are supported are sent; those that are not are reported.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::message::reply::ModelReply;
use windlass_core::settings::conversation_settings::{ModelSpec as ModelSettings, Settings};
use windlass_providers::catalog::provider_table::{ProviderTable, WireFormat};
use windlass_providers::{CallNotice, CallOptions, ModelRegistry, RemoteModel, notices_in};
use windlass_runtime::ports::Model;

use crate::adapter::{KEY, endpoint, joined, prompt, remote, request, request_with, shared};
use crate::byte_server::{ByteServer, streamed, whole};
use crate::format_scenarios::{FORMATS, cassette};
use crate::recording_stream::RecordingStream;

const NOWHERE: &str = "http://127.0.0.1:1";

async fn answered(format: WireFormat, story: &str) -> ModelReply {
    let bytes = cassette(format, story);
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let model = remote(format, &server.url, CallOptions::default());
    model.call(request(prompt("go")), RecordingStream::new()).await.unwrap()
}

// spec: MODELS-03
#[test]
fn model_output_cap_and_stop_strings_are_sent_as_configured() {
    let mut settings = Settings::new(ModelSettings::with_defaults("claude-sonnet-4-6"));
    settings.model.max_tokens = 4_096;
    let mut request = request(prompt("go"));
    request.settings = Arc::new(settings);
    request.max_tokens = 4_096;
    let sent = |format| {
        let mut endpoint = endpoint(format, NOWHERE);
        endpoint.model = Arc::from("claude-sonnet-4-6");
        let model = RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap();
        serde_json::from_str::<Value>(&joined(&model.request_body(&request))).unwrap()
    };
    let messages = sent(WireFormat::AnthropicMessages);
    assert_eq!(messages["model"], "claude-sonnet-4-6");
    assert_eq!(messages["max_tokens"], 4_096);
    assert_eq!(messages["stop_sequences"], json!(["\n---END---", "\nUser:"]));
    let chat = sent(WireFormat::OpenAiChat);
    assert_eq!((&chat["max_tokens"], &chat["stop"]), (&json!(4_096), &messages["stop_sequences"]));
    // This format has no field for stop strings: they are matched locally, and the text ends
    // before.
    assert_eq!(sent(WireFormat::OpenAiResponses)["max_output_tokens"], 4_096);
}

// spec: MODELS-03
#[tokio::test]
async fn output_ends_just_before_a_stop_string() {
    for format in FORMATS {
        let reply = answered(format, "stop_string").await;
        assert_eq!(reply.text(), "Done.", "{format:?}");
    }
}

#[tokio::test]
async fn keys_versions_and_betas_travel_in_headers() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
    let mut endpoint = endpoint(WireFormat::AnthropicMessages, &format!("{}/v1/", server.url));
    endpoint.model = Arc::from("claude-opus-5");
    let model = RemoteModel::new(endpoint, shared(), CallOptions::default()).unwrap();
    let request_with_betas = request_with(|settings| {
        settings.thinking.betas = vec!["one-2026".into()];
        settings.thinking.task_tokens = Some(20_000);
    });
    model.call(request_with_betas, RecordingStream::new()).await.unwrap();
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
    for format in [WireFormat::OpenAiChat, WireFormat::OpenAiResponses] {
        let bytes = cassette(format, "text");
        let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
        let model = remote(format, &format!("{}/v1", server.url), CallOptions::default());
        model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
        let head = &server.asked()[0].head;
        assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
        assert!(head.starts_with("POST /v1/"), "{head}");
    }
}

#[tokio::test]
async fn tokens_can_be_counted() {
    let server = ByteServer::start(|_, _| whole("200 OK", "", r#"{"input_tokens": 42}"#)).await;
    let model = remote(WireFormat::AnthropicMessages, &server.url, CallOptions::default());
    assert_eq!(model.count_tokens(&request(prompt("go"))).await, Ok(42));
    let received = &server.asked()[0];
    assert!(received.head.starts_with("POST /v1/messages/count_tokens "));
    let body: Value = serde_json::from_str(&received.body).unwrap();
    assert_eq!((body.get("max_tokens"), body.get("stream")), (None, None));
    let chat = remote(WireFormat::OpenAiChat, &server.url, CallOptions::default());
    assert!(chat.count_tokens(&request(prompt("go"))).await.is_err());
}

#[tokio::test]
async fn an_output_limit_is_learned_and_kept() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let output = r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 1000 > 800, which is the maximum allowed number of output tokens for test-model"}}"#;
    let server = ByteServer::start(move |_, request| {
        let fits = request.body.contains("\"max_tokens\":800");
        if fits { streamed(&bytes) } else { whole("400 No", "", output) }
    })
    .await;
    let model = remote(WireFormat::AnthropicMessages, &server.url, CallOptions::default());
    for asked in [2, 3] {
        let reply = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
        assert_eq!(notices_in(&reply), [CallNotice::OutputLimitLowered]);
        assert_eq!(server.asked().len(), asked, "learned once");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_asked_without() {
    let whole_reply = r#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let server = ByteServer::start(move |_, request| {
        if request.body.contains("\"stream\":true") {
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
    let model = remote(WireFormat::OpenAiChat, &server.url, CallOptions::default());
    for asked in [2, 3] {
        let reply = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
        assert_eq!(notices_in(&reply), [CallNotice::NotStreamed]);
        assert_eq!(server.asked().len(), asked, "learned once");
    }
}

#[tokio::test]
async fn thoughts_a_server_does_not_accept_are_left_out() {
    let bytes = cassette(WireFormat::AnthropicMessages, "text");
    let output = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
    let server = ByteServer::start(move |_, asked| {
        let thinks = asked.body.contains("\"thinking\"");
        if thinks { whole("400 No", "", output) } else { streamed(&bytes) }
    })
    .await;
    let model = remote(WireFormat::AnthropicMessages, &server.url, CallOptions::default());
    let mut transcript = prompt("go");
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"of another"}"#;
    let thought = windlass_core::message::content_block::ContentBlock::new(
        windlass_core::message::raw_json::RawJson::parse(thinking).unwrap(),
    );
    transcript.push_reply(&[
        thought,
        windlass_core::message::content_block::ContentBlock::text("Hello."),
    ]);
    transcript.push_prompt(&[windlass_core::message::content_block::ContentBlock::text("And?")]);
    let request = request(transcript);
    model.call(request.clone(), RecordingStream::new()).await.unwrap();
    model.call(request, RecordingStream::new()).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_name_in_the_settings_chooses_the_model() {
    let bytes: Vec<Vec<u8>> = FORMATS.iter().map(|format| cassette(*format, "text")).collect();
    let server = ByteServer::start(move |_, asked| {
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
    let models = ModelRegistry::new(
        shared(),
        ProviderTable::built_in(),
        CallOptions::default(),
        Arc::new(variables),
    );
    for name in ["claude-sonnet-4-6", "openai:gpt-5.5", "ollama:llama3:8b", "openai-chat:gpt-4o"] {
        let mut request = request(prompt("go"));
        request.settings = Arc::new(Settings::new(ModelSettings::with_defaults(name)));
        let reply = models.call(request, RecordingStream::new()).await.unwrap();
        assert!(reply.text().starts_with("Grüße"), "{name}");
    }
    let sent: Vec<Value> =
        server.asked().iter().map(|asked| serde_json::from_str(&asked.body).unwrap()).collect();
    let names: Vec<&Value> = sent.iter().map(|body| &body["model"]).collect();
    assert_eq!(names, ["claude-sonnet-4-6", "gpt-5.5", "llama3:8b", "gpt-4o"]);
    for (name, wanted) in
        [("mystery", "unknown provider for model"), ("groq:x", "set GROQ_API_KEY")]
    {
        let mut request = request(prompt("go"));
        request.settings = Arc::new(Settings::new(ModelSettings::with_defaults(name)));
        let failure = models.call(request, RecordingStream::new()).await.unwrap_err();
        assert!(failure.message.contains(wanted), "{}", failure.message);
    }
}
