//! Generators for properties: text, JSON, blocks and replies, valid and otherwise.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};

/// Text of any kind: plain, Hebrew with points, emoji sequences, control characters, anything.
pub(crate) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        3 => "[a-z ]{0,12}",
        1 => "(שָׁ|לוֹ|ם){0,9}",
        1 => "(👨\u{200d}👩\u{200d}👧|👋🏽|🇮🇱|e\u{301}){0,9}",
        1 => Just(String::new()),
        1 => Just(" \n\t".to_owned()),
        2 => any::<String>(),
        1 => "[a-z]{200,400}",
    ]
    .boxed()
}

/// A JSON value as text: lone surrogates, absurd numbers, repeated keys and depth included.
pub(crate) fn json() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
        Just("1e999".to_owned()),
        Just("-0.0".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just(r#""\ud800""#.to_owned()),
        Just(r#""\udc00\ud800 x""#.to_owned()),
        Just(format!("{}{}", "[".repeat(200), "]".repeat(200))),
        any::<u64>().prop_map(|number| number.to_string()),
        text().prop_map(|text| RawJson::string(&text).text().to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(" ,"))),
            prop::collection::vec((key(), inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
    .boxed()
}

fn key() -> BoxedStrategy<String> {
    prop_oneof![
        Just(r#""type""#.to_owned()),
        Just(r#""role""#.to_owned()),
        Just(r#""content""#.to_owned()),
        Just(r#""text""#.to_owned()),
        text().prop_map(|text| RawJson::string(&text).text().to_owned()),
    ]
    .boxed()
}

/// Ids from a small pool, so that they repeat.
pub(crate) fn id() -> BoxedStrategy<String> {
    prop_oneof![4 => "t[0-5]", 1 => text()].boxed()
}

fn tool() -> BoxedStrategy<String> {
    prop_oneof![
        8 => prop::sample::select(vec!["read", "write", "bash", "send", "fetch", "upload", "sleep", "deploy", "ask_human", "rm", "note", "notes", "spawn", "answer"])
            .prop_map(str::to_owned),
        1 => text(),
    ]
    .boxed()
}

/// A content block of any kind, as JSON.
pub(crate) fn block_json() -> BoxedStrategy<String> {
    let string = |text: String| RawJson::string(&text).text().to_owned();
    prop_oneof![
        4 => text().prop_map(move |t| format!(r#"{{"type":"text","text":{}}}"#, string(t))),
        6 => (id(), tool(), prop_oneof![3 => r#"\{"on":"/[ab](/c)?"\}"#, 1 => json()]).prop_map(move |(id, tool, input)| {
            format!(r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#, string(id), string(tool))
        }),
        1 => (id(), json()).prop_map(move |(id, content)| {
            format!(r#"{{"type":"tool_result","tool_use_id":{},"content":{content}}}"#, string(id))
        }),
        1 => Just(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#.to_owned()),
        1 => Just(r#"{"type":"hologram","x":1.50}"#.to_owned()),
        1 => json(),
    ]
    .boxed()
}

pub(crate) fn block() -> BoxedStrategy<ContentBlock> {
    block_json()
        .prop_map(|json| ContentBlock::new(RawJson::parse(json).expect("json() makes JSON")))
        .boxed()
}

pub(crate) fn blocks() -> BoxedStrategy<Vec<ContentBlock>> {
    prop::collection::vec(block(), 0..5).boxed()
}

fn stop_reason() -> BoxedStrategy<String> {
    let known = vec![
        "end_turn",
        "tool_use",
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "model_context_window_exceeded",
    ];
    prop_oneof![
        4 => Just("tool_use".to_owned()),
        6 => prop::sample::select(known).prop_map(str::to_owned),
        1 => text(),
    ]
    .boxed()
}

pub(crate) fn tokens() -> BoxedStrategy<u64> {
    prop_oneof![6 => 0..2_000_u64, 1 => Just(u64::MAX), 1 => any::<u64>()].boxed()
}

/// A reply of a model that uses its tools correctly.
pub(crate) fn decent() -> BoxedStrategy<ModelReply> {
    let tools = vec!["read", "read", "write", "fetch", "deploy", "note", "spawn", "answer", "bash"];
    let on = prop::sample::select(vec!["/a", "/b", "objective: x", "decisions+ y", "a b c", ""]);
    let call = (id(), prop::sample::select(tools), on)
        .prop_map(|(id, tool, on)| crate::kit::call(&id, tool, on));
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    let thought = ContentBlock::new(RawJson::parse(thinking).expect("it is JSON"));
    (prop::collection::vec(call, 1..4), any::<bool>(), 0..3_000_u64)
        .prop_map(move |(mut blocks, thinks, input_tokens)| {
            if thinks {
                blocks.insert(0, thought.clone());
            }
            ModelReply {
                blocks,
                truncated_block: None,
                stop_reason: StopReason::ToolUse,
                stop_sequence: None,
                usage: TokenUsage { input_tokens, output_tokens: 9, ..TokenUsage::default() },
                envelope: None,
            }
        })
        .boxed()
}

pub(crate) fn reply() -> BoxedStrategy<ModelReply> {
    prop_oneof![3 => decent(), 2 => any_reply()].boxed()
}

fn any_reply() -> BoxedStrategy<ModelReply> {
    let matched = prop::option::of(prop_oneof![
        Just("\nUser:".to_owned()),
        Just("\n---END---".to_owned()),
        text()
    ]);
    let cut = prop::option::weighted(0.2, text());
    (blocks(), stop_reason(), matched, cut, tokens(), tokens())
        .prop_map(|(blocks, reason, matched, cut, input_tokens, output_tokens)| ModelReply {
            blocks,
            truncated_block: cut.map(|partial| TruncatedBlock {
                name: Arc::from("write"),
                partial: Arc::from(partial),
            }),
            stop_reason: StopReason::from(reason.as_str()),
            stop_sequence: matched.map(Arc::from),
            usage: TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() },
            envelope: None,
        })
        .boxed()
}
