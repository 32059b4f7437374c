use std::sync::Arc;

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::raw_json::sha256_hex;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};
use windlass_core::message::transcript::Transcript;
use windlass_runtime::ports::{Clock, Model};

use super::fixture_tests::{FakeClock, RecordingListener, call, prompted, request, result};
use super::{Script, ScriptedModel};

type AnswerAndStream = (Result<ModelReply, ModelFailure>, Vec<String>);

fn model(rule: &str) -> (ScriptedModel, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let script = Script::parse(rule).unwrap();
    (ScriptedModel::new(script, Arc::clone(&clock) as Arc<dyn Clock>), clock)
}

async fn ask(
    model: &ScriptedModel,
    clock: &Arc<FakeClock>,
    transcript: Transcript,
) -> AnswerAndStream {
    let listener = RecordingListener::new(clock);
    let stream = Arc::clone(&listener);
    let answer = model.call(request(transcript), stream).await;
    (answer, listener.heard())
}

/// The answer of a model with this one rule.
async fn ask_and_record(steps: &str) -> AnswerAndStream {
    let (model, clock) = model(&format!("when any\n{steps}"));
    ask(&model, &clock, prompted("go")).await
}

async fn reply(steps: &str) -> ModelReply {
    ask_and_record(steps).await.0.unwrap()
}

async fn failure(steps: &str) -> ModelFailure {
    ask_and_record(steps).await.0.unwrap_err()
}

fn blocks(reply: &ModelReply) -> Vec<&str> {
    reply.blocks.iter().map(|block| block.raw().text()).collect()
}

#[tokio::test]
async fn text_is_streamed_in_pieces_and_then_whole() {
    let (answer, texts) =
        ask_and_record("say \"one two\nthree\"".replace('\n', "\\n").as_str()).await;
    let block = r#"{"type":"text","text":"one two\nthree"}"#;
    assert_eq!(blocks(&answer.unwrap()), [block]);
    let whole = format!("0 block 0 {block}");
    assert_eq!(texts, ["0 text \"one \"", "0 text \"two\\n\"", "0 text \"three\"", &whole]);
}

#[tokio::test]
async fn blocks_are_what_a_provider_sends() {
    let reply = reply(
        r#"
        think "hm"
        say "looking"
        call Read as t1 {"b": 1,  "a": "x"}
        raw {"type": "odd",  "z": [1e3]}
        "#,
    )
    .await;
    let thinking =
        format!(r#"{{"type":"thinking","thinking":"hm","signature":"{}"}}"#, sha256_hex(b"hm"));
    let expected = [
        thinking.as_str(),
        r#"{"type":"text","text":"looking"}"#,
        r#"{"type":"tool_use","id":"t1","name":"Read","input":{"b": 1,  "a": "x"}}"#,
        r#"{"type": "odd",  "z": [1e3]}"#,
    ];
    assert_eq!(blocks(&reply), expected);
    assert_eq!(reply.stop_reason, StopReason::ToolUse);
    assert_eq!(reply.tool_uses().map(|(index, _)| index).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn blocks_are_ready_in_order_while_the_rest_still_comes() {
    let (_, texts) = ask_and_record("call A {}\ndelay 5ms\nthink \"b\"").await;
    let starts = ["0 block 0", "5 thinking \"b\"", "5 block 1"];
    assert_eq!(texts.len(), starts.len());
    assert!(texts.iter().zip(starts).all(|(heard, start)| heard.starts_with(start)), "{texts:?}");
}

#[tokio::test]
async fn pace_pauses_between_pieces() {
    let (_, texts) = ask_and_record("delay 100ms\npace 20ms\nsay \"a b\"\ncall X\nsay \"c\"").await;
    let times: Vec<_> = texts.iter().filter_map(|line| line.split(' ').next()).collect();
    // The call's arguments take a pause too, although they are not shown.
    assert_eq!(times, ["100", "120", "120", "140", "160", "160"]);
}

#[tokio::test]
async fn the_script_says_why_it_stops_and_what_it_costs() {
    let reply =
        reply("say \"x\"\nstop stop_sequence \"END\"\nusage in 1 out 2 cache_read 3 cache_write 4")
            .await;
    assert_eq!(reply.stop_reason, StopReason::StopSequence);
    assert_eq!(reply.stop_sequence.as_deref(), Some("END"));
    let usage = TokenUsage {
        input_tokens: 1,
        output_tokens: 2,
        cache_read_tokens: 3,
        cache_write_tokens: 4,
    };
    assert_eq!(reply.usage, usage);
}

#[tokio::test]
async fn a_stop_reason_nobody_knows_keeps_its_name() {
    let reply = reply("say \"x\"\nstop tired").await;
    assert_eq!(reply.stop_reason, StopReason::Other(Arc::from("tired")));
}

#[tokio::test]
async fn an_answer_without_blocks_is_an_empty_reply() {
    let reply = reply("stop end_turn").await;
    assert_eq!((reply.blocks, reply.truncated_block), (vec![], None));
}

#[tokio::test]
async fn a_truncated_call_is_no_block() {
    let (answer, texts) = ask_and_record("say \"x\"\ntruncate call Write {\"content\": \"ab").await;
    let reply = answer.unwrap();
    let cut = TruncatedBlock { name: Arc::from("Write"), partial: Arc::from("{\"content\": \"ab") };
    assert_eq!((reply.blocks.len(), reply.truncated_block), (1, Some(cut)));
    assert_eq!(reply.stop_reason, StopReason::MaxTokens);
    assert_eq!(texts.iter().filter(|line| line.contains("block")).count(), 1);
}

#[tokio::test]
async fn a_cut_stream_is_a_cut() {
    for steps in ["cut", "say \"x\"\ncut", "truncate call W {\ncut", "say \"x\"\nfail timeout"] {
        assert_eq!(failure(steps).await.class, FailureClass::StreamCut, "{steps}");
    }
}

#[tokio::test]
async fn a_cut_inside_a_block_shows_half_of_it_and_no_block() {
    let (answer, texts) = ask_and_record("say \"first\"\nsay \"12345 7890\"\ncut inside").await;
    assert_eq!(answer.unwrap_err().class, FailureClass::StreamCut);
    let block = "0 block 0 {\"type\":\"text\",\"text\":\"first\"}";
    assert_eq!(texts, ["0 text \"first\"", block, "0 text \"12345\""]);
}

#[tokio::test]
async fn a_cut_inside_a_short_or_wide_text_does_no_harm() {
    for steps in ["say \"\"", "say \"😀\"", "say \"אב\"", "call X", "raw {}", "think \"é\""] {
        let failure = failure(&format!("{steps}\ncut inside")).await;
        assert_eq!(failure.class, FailureClass::StreamCut, "{steps}");
    }
}

#[tokio::test]
async fn a_refused_request_has_the_class_of_its_status() {
    let table = [
        ("fail 429", FailureClass::Transient),
        ("fail 529", FailureClass::Transient),
        ("delay 5ms\nfail 500", FailureClass::Transient),
        ("fail timeout", FailureClass::Transient),
        ("fail connect", FailureClass::Transient),
        ("fail 401", FailureClass::Permanent),
        ("fail 413", FailureClass::ContextTooLong),
        ("fail 400 \"prompt is too long\"", FailureClass::ContextTooLong),
    ];
    for (steps, class) in table {
        assert_eq!(failure(steps).await.class, class, "{steps}");
    }
}

#[tokio::test]
async fn a_fault_inside_the_stream_is_billed() {
    assert_eq!(failure("say \"x\"\nfail 529").await.class, FailureClass::StreamCut);
    assert_eq!(failure("raw {}\nfail 529").await.class, FailureClass::StreamCut);
    assert_eq!(failure("truncate call W\nfail 529").await.class, FailureClass::StreamCut);
    assert_eq!(failure("say \"x\"\nfail 401").await.class, FailureClass::Permanent);
}

#[tokio::test]
async fn retry_after_is_read_or_ignored() {
    let wait = async |header: &str| {
        failure(&format!("delay 1s\nfail 429 retry-after {header} \"m\"")).await.retry_after_ms
    };
    assert_eq!(wait("2").await, Some(2_000));
    assert_eq!(wait("\"Thu, 01 Jan 1970 00:00:03 GMT\"").await, Some(2_000));
    assert_eq!(wait("\"some day\"").await, None);
    assert_eq!(failure("fail 429").await.retry_after_ms, None);
}

#[tokio::test]
async fn uses_count_over_all_conversations_of_one_model() {
    let (model, clock) = model("when any\n  once\n  fail 529\nwhen any\n  say \"fine\"");
    assert!(ask(&model, &clock, prompted("one")).await.0.is_err());
    assert!(ask(&model, &clock, prompted("two")).await.0.is_ok());
}

#[tokio::test]
async fn the_same_request_again_is_the_same_answer() {
    let (model, clock) = model("when ask 2 and result of Read is \"42\"\n  call Bash {}");
    let mut transcript = prompted("go");
    transcript.push_round(&[call("a", "Read")], vec![result("a", "42")]).unwrap();
    let first = ask(&model, &clock, transcript.clone()).await;
    assert_eq!(first, ask(&model, &clock, transcript).await);
    let id = r#"{"type":"tool_use","id":"toolu_2_1","name":"Bash","input":{}}"#;
    assert_eq!(blocks(&first.0.unwrap()), [id]);
}

#[tokio::test]
async fn a_model_without_a_fitting_rule_says_so() {
    let (model, clock) = model("when ask 9\n  say \"x\"");
    let reply = ask(&model, &clock, prompted("go")).await.0.unwrap();
    assert!(reply.text().contains("no rule matches"), "{}", reply.text());
}
