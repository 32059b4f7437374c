use serde_json::{Value, json};
use windlass_core::budget::spending::ModelPrice;
use windlass_core::log::ids::UnixMillis;
use windlass_core::message::reply::TokenUsage;

use super::cache_use::{CachedCall, ChangesBetweenCalls, find_miss};
use super::{CacheBreak, TextExcerpt, find_schema_conflicts};

fn conflicts(schema: &Value) -> String {
    find_schema_conflicts(schema).join("; ")
}

#[test]
fn a_schema_that_no_answer_can_fit_is_told_with_its_place() {
    let required = json!({"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "string"}}, "required": ["a", "total"]});
    assert!(conflicts(&required).contains("requires the property \"total\""));
    let nested = json!({"properties": {"n": {"minimum": 5, "maximum": 2}}, "required": ["n"]});
    assert_eq!(conflicts(&nested), "the answer.n needs minimum 5, which is above maximum 2");
    let fixed = json!({"type": "integer", "const": "x"});
    assert!(conflicts(&fixed).contains("which its type excludes"));
    assert!(conflicts(&json!({"enum": []})).contains("empty list"));
}

#[test]
fn a_schema_that_can_be_met_has_no_conflict() {
    let optional = json!({"properties": {"n": {"minimum": 5, "maximum": 2}}});
    assert_eq!(conflicts(&optional), "");
    let open = json!({"type": "object", "required": ["anything"]});
    assert_eq!(conflicts(&open), "");
    assert_eq!(conflicts(&json!({"type": ["string", "null"], "enum": [null]})), "");
}

fn call(at: u64, model: &str, cache_read: u64, cache_write: u64) -> CachedCall {
    let usage = TokenUsage {
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..TokenUsage::default()
    };
    CachedCall { at: UnixMillis(at), model: model.to_owned(), usage }
}

fn miss(call_after: &CachedCall, changes: ChangesBetweenCalls) -> Option<CacheBreak> {
    find_miss(&call(0, "m", 8_000, 2_000), call_after, changes, None, None).map(|it| it.cause)
}

#[test]
fn what_broke_the_prompt_cache_is_named() {
    let none = ChangesBetweenCalls::default();
    let compacted = ChangesBetweenCalls { is_compacted: true, ..none };
    let tools = ChangesBetweenCalls { has_other_tools: true, ..compacted };
    assert_eq!(miss(&call(1_000, "m", 9_500, 500), none), None);
    assert_eq!(miss(&call(1_000, "m", 0, 9_000), none), Some(CacheBreak::Provider));
    assert_eq!(miss(&call(400_000, "m", 0, 9_000), none), Some(CacheBreak::Expiry));
    assert_eq!(miss(&call(1_000, "n", 0, 9_000), none), Some(CacheBreak::ModelSwitch));
    assert_eq!(miss(&call(1_000, "m", 3_000, 9_000), compacted), Some(CacheBreak::Compaction));
    assert_eq!(miss(&call(1_000, "m", 0, 9_000), tools), Some(CacheBreak::ChangedTools));
}

#[test]
fn a_miss_costs_what_sending_again_costs_beyond_reading() {
    let price = ModelPrice {
        input_usd_micros: 3_000_000,
        output_usd_micros: 0,
        cache_read_usd_micros: 300_000,
        cache_write_usd_micros: 3_750_000,
        above: None,
    };
    let (before, after) = (call(0, "m", 8_000, 2_000), call(1, "m", 0, 10_000));
    let found = find_miss(&before, &after, ChangesBetweenCalls::default(), None, Some(&price));
    let found = found.unwrap();
    assert_eq!((found.tokens, found.extra_usd_micros), (10_000, Some(34_500)));
}

#[test]
fn an_excerpt_says_how_much_is_left_out() {
    let long = "line\n".repeat(10);
    assert_eq!(TextExcerpt::new("short").to_string(), "short");
    assert!(TextExcerpt::new(&long).to_string().ends_with("… (30 more characters)"));
}
