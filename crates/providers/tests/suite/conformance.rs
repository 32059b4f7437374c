//! The same scenario gives the same reply: recorded, over a socket, and however the bytes are
//! split.

use std::sync::Arc;

use windlass_core::message::reply::ModelReply;
use windlass_providers::catalog::provider_table::WireFormat;
use windlass_providers::{CallNotice, CallOptions, RecordedCall, notices_in, replay_stream};
use windlass_runtime::ports::Model;

use crate::adapter::{prompt, remote, request};
use crate::byte_server::{ByteServer, ServerAction, stream_head, streamed};
use crate::format_scenarios::{FORMATS, STOP, Scenario, cassette, scenarios, to_expected};
use crate::recording_stream::RecordingStream;

fn recorded() -> RecordedCall {
    RecordedCall {
        model: Arc::from("test-model"),
        model_call: 1,
        stop_strings: vec![Arc::from(STOP)],
    }
}

fn check(scenario: &Scenario, format: WireFormat, reply: &ModelReply) {
    assert_eq!(to_expected(reply), scenario.expected, "{} of {format:?}", scenario.name);
    match scenario.usage {
        Some(usage) => assert_eq!(reply.usage, usage, "{} of {format:?}", scenario.name),
        None => assert!(
            reply.usage.output_tokens > 0
                || notices_in(reply).contains(&CallNotice::UsageEstimated)
        ),
    }
}

// spec: MODELS-11
#[test]
fn every_format_makes_the_same_reply_of_the_same_story() {
    for scenario in scenarios() {
        for format in FORMATS {
            let bytes = cassette(format, scenario.name);
            let recording = RecordingStream::new();
            let reply =
                replay_stream(format, &recorded(), [bytes.as_slice()], &*recording).unwrap();
            check(&scenario, format, &reply);
        }
    }
}

// spec: MODELS-01
#[test]
fn text_thinking_and_blocks_arrive_while_the_reply_is_still_coming() {
    for format in FORMATS {
        let recording = RecordingStream::new();
        let bytes = cassette(format, "calls");
        let reply = replay_stream(format, &recorded(), [bytes.as_slice()], &*recording).unwrap();
        assert_eq!(recording.text(), "I will read both files.");
        assert_eq!(*recording.thinking.lock().unwrap(), "Two files are named, so both are read.");
        let blocks = recording.blocks.lock().unwrap();
        let calls: Vec<_> =
            blocks.iter().filter(|(_, block)| block.as_tool_use().is_some()).collect();
        assert_eq!(calls.len(), 2, "{format:?}");
        for (index, block) in blocks.iter() {
            assert_eq!(reply.blocks.get(usize::from(*index)), Some(block), "{format:?}");
        }
    }
}

#[test]
fn a_call_that_was_cut_is_never_announced() {
    for format in FORMATS {
        for name in ["cut_call", "cut_but_fine", "cut_second", "cut_empty"] {
            let recording = RecordingStream::new();
            let bytes = cassette(format, name);
            replay_stream(format, &recorded(), [bytes.as_slice()], &*recording).unwrap();
            let blocks = recording.blocks.lock().unwrap();
            let calls = blocks.iter().filter_map(|(_, block)| block.as_tool_use());
            assert_eq!(calls.filter(|call| &*call.name != "Read").count(), 0, "{name}");
        }
    }
}

// spec: MODELS-01, MODELS-11
#[tokio::test]
async fn every_format_makes_the_same_reply_over_a_socket() {
    for scenario in scenarios() {
        for format in FORMATS {
            let bytes = cassette(format, scenario.name);
            let server = ByteServer::start(move |_, _| streamed(&bytes)).await;
            let model = remote(format, &server.url, CallOptions::default());
            let reply = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
            check(&scenario, format, &reply);
        }
    }
}

#[tokio::test]
async fn bytes_that_trickle_make_the_same_reply() {
    for format in FORMATS {
        let bytes = cassette(format, "calls");
        let server = ByteServer::start(move |_, _| {
            let pieces = bytes.chunks(97).map(|chunk| ServerAction::Chunk(chunk.to_vec()));
            std::iter::once(stream_head()).chain(pieces).chain([ServerAction::End]).collect()
        })
        .await;
        let model = remote(format, &server.url, CallOptions::default());
        let reply = model.call(request(prompt("go")), RecordingStream::new()).await.unwrap();
        let scenario = &scenarios()[0];
        check(scenario, format, &reply);
    }
}
