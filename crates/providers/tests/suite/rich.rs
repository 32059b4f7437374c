//! Blocks that only one provider has: kept byte for byte, and sent back so.

use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::StopReason;
use windlass_core::message::transcript::Transcript;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CacheLifetime, CallOptions, RecordedCall, replay_stream};

use crate::adapter::{joined, prompt, remote, request};
use crate::format_scenarios::cassette;
use crate::recording_stream::RecordingStream;

fn rich() -> windlass_core::message::reply::ModelReply {
    let bytes = cassette(WireFormat::AnthropicMessages, "rich");
    let recorded = RecordedCall::default();
    replay_stream(
        WireFormat::AnthropicMessages,
        &recorded,
        [bytes.as_slice()],
        &*RecordingStream::new(),
    )
    .unwrap()
}

#[test]
fn every_block_type_is_kept_known_or_not() {
    let reply = rich();
    let raw: Vec<&str> = reply.blocks.iter().map(|block| block.raw().text()).collect();
    let wanted = [
        r#"{"type":"redacted_thinking","data":"b3BhcXVl"}"#,
        r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query": "winch pawl"},"caller":{"type":"direct"}}"#,
        r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://example.org/pawl","title":"Pawls","encrypted_content":"ZW5j","page_age":null}]}"#,
        r#"{"type":"text","text":"A pawl holds.","citations":[{"type":"web_search_result_location","url":"https://example.org/pawl","title":"Pawls","cited_text":"holds","encrypted_index":"aWR4"},{"type":"char_location","document_index":0,"start_char_index":1,"end_char_index":5,"cited_text":"pawl"}]}"#,
        r#"{"type":"future_block","version":2,"notes":"ab","level":7}"#,
    ];
    assert_eq!(raw, wanted);
    assert_eq!(reply.stop_reason, StopReason::PauseTurn);
    assert_eq!((reply.usage.cache_write_tokens, reply.usage.output_tokens), (7, 33));
}

#[test]
fn blocks_go_back_as_they_came() {
    let reply = rich();
    let mut transcript = prompt("go");
    transcript.push_reply(&reply.blocks);
    let options = CallOptions { cache: CacheLifetime::Off, ..CallOptions::default() };
    let model = remote(WireFormat::AnthropicMessages, "http://127.0.0.1:1", options);
    let body = joined(&model.request_body(&request(transcript)));
    for block in &reply.blocks {
        assert!(body.contains(block.raw().text()), "{}", block.raw().text());
    }
}

/// Thinking is only sent back to the model it came from.
#[test]
fn thoughts_return_to_their_own_model_and_to_no_other() {
    let formats =
        [WireFormat::AnthropicMessages, WireFormat::OpenAiChat, WireFormat::OpenAiResponses];
    for from in formats {
        let bytes = cassette(from, "calls");
        let recorded = RecordedCall { model: "test-model".into(), ..RecordedCall::default() };
        let reply =
            replay_stream(from, &recorded, [bytes.as_slice()], &*RecordingStream::new()).unwrap();
        for to in formats {
            let model = remote(to, "http://127.0.0.1:1", CallOptions::default());
            let body = joined(&model.request_body(&request(with_round(&reply.blocks))));
            assert_eq!(
                body.contains("so both are read."),
                from == to,
                "{from:?} to {to:?}: {body}"
            );
            assert!(!body.contains("\"openai_chat\""), "{body}");
            assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok());
        }
    }
}

#[test]
fn a_torn_surrogate_pair_is_whole_again() {
    let stream = concat!(
        "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\\ud83d\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ude00b\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let recorded = RecordedCall::default();
    let reply = replay_stream(
        WireFormat::AnthropicMessages,
        &recorded,
        [stream.as_bytes()],
        &*RecordingStream::new(),
    )
    .unwrap();
    assert_eq!(reply.text(), "a😀b");
}

fn with_round(blocks: &[ContentBlock]) -> Transcript {
    let mut transcript = prompt("go");
    let results = blocks.iter().filter_map(ContentBlock::as_tool_use).map(|call| {
        let content = windlass_core::message::raw_json::RawJson::string("fine");
        ContentBlock::tool_result(
            &call.id,
            &content,
            windlass_core::message::content_block::ErrorFlag::Success,
        )
    });
    transcript.push_round(blocks, results.collect()).unwrap();
    transcript
}
