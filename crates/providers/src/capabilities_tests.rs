use windlass_core::reply::Usage;

use crate::capabilities::{Capabilities, Evidence, ForcedChoice, Knowledge, Learned};
use crate::overrides::Overrides;
use crate::prices::{Step, Written};

#[test]
fn the_table_is_read_and_has_prices_of_every_class() {
    let table = Capabilities::built_in();
    for model in ["claude-sonnet-4-6", "claude-opus-5-5", "gpt-5.5", "gpt-4o-mini"] {
        let knowledge = table.of(model);
        assert!(matches!(knowledge, Knowledge::Known(_)), "{model}");
        let prices = knowledge.prices().unwrap();
        assert!(prices.output > prices.input && prices.input > prices.cache_read, "{model}");
        assert!(!knowledge.abilities().source.is_empty());
    }
}

/// Every row says whose word it is: the provider's own pages, or what others wrote of them. The table
/// says of when it is.
// spec: BUDGETS-07
#[test]
fn a_price_says_where_it_was_read_and_by_whom() {
    let table: serde_json::Value = serde_json::from_str(include_str!("models.json")).unwrap();
    assert_eq!(table["checked"].as_str().unwrap().len(), "2026-11-15".len());
    for row in table["models"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let knowledge = Capabilities::built_in().of(id);
        let abilities = knowledge.abilities();
        assert!(abilities.source.contains('.'), "{id}: {}", abilities.source);
        let own = abilities.source.starts_with("https://platform.claude.com/");
        assert_eq!(abilities.evidence == Evidence::Provider, own, "{id}");
        let prices = knowledge.prices().unwrap();
        let step = prices.above.unwrap_or(Step {
            input_tokens: 0,
            input: prices.input,
            output: prices.output,
            cache_read: prices.cache_read,
            cache_write: prices.cache_write,
            cache_write_hour: prices.cache_write_hour,
        });
        assert!(step.input >= prices.input && step.output >= prices.output, "{id}");
        assert!(prices.cache_write_hour >= prices.cache_write, "{id}");
    }
}

#[test]
fn a_date_does_not_hide_a_model() {
    let table = Capabilities::built_in();
    let dated = ["claude-haiku-4-5-20251001", "claude-sonnet-4-5@20250929", "gpt-5-2025-08-07"];
    for model in dated.into_iter().chain(["openai/gpt-4.1", "claude-opus-5-latest"]) {
        assert!(matches!(table.of(model), Knowledge::Known(_)), "{model}");
    }
    assert_eq!(table.of("claude-haiku-4-5-20251001").abilities().id, "claude-haiku-4-5");
}

// spec: BUDGETS-07
#[test]
fn an_unknown_model_says_so_and_has_no_price() {
    let knowledge = Capabilities::built_in().of("llama-of-somebody");
    assert!(matches!(knowledge, Knowledge::Unknown(_)));
    assert_eq!(knowledge.prices(), None);
    assert_eq!(knowledge.abilities().window_tokens, 128_000);
}

// spec: MODELS-09
#[test]
fn a_users_row_says_what_is_different() {
    let rows = r#"{"models":{"mine":{"window_tokens":8192,"most_output_tokens":1024,
        "forced_choice":"never"},"claude-sonnet-4-6":{"window_tokens":200000}}}"#;
    let rows = Overrides::from_json(rows).unwrap();
    let table = Capabilities::built_in().with_rows(&rows.models);
    let mine = table.of("mine");
    assert!(matches!(mine, Knowledge::Known(_)));
    assert_eq!(mine.abilities().forced_choice, ForcedChoice::Never);
    assert_eq!(mine.prices(), None);
    let sonnet = table.of("claude-sonnet-4-6-20260101").abilities().clone();
    assert_eq!((sonnet.window_tokens, sonnet.most_output_tokens), (200_000, 128_000));
    assert!(sonnet.prices.is_some());
    for bad in ["{", r#"{"models":{"m":{"windows":1}}}"#, r#"{"model":{}}"#] {
        let error = Overrides::from_json(bad).unwrap_err().to_string();
        assert!(error.contains("compare it with"), "{error}");
    }
}

// spec: MODELS-09
#[test]
fn what_an_error_taught_narrows_what_the_table_says() {
    let table = Capabilities::built_in();
    let lesson = Learned { window_tokens: Some(8_192), most_output_tokens: None };
    table.learn("llama-of-somebody", lesson);
    table.learn("llama-of-somebody", Learned { most_output_tokens: Some(512), ..lesson });
    let abilities = table.of("llama-of-somebody").abilities().clone();
    assert_eq!((abilities.window_tokens, abilities.most_output_tokens), (8_192, 512));
    table.learn("gpt-4o", Learned { window_tokens: Some(u64::MAX), ..Learned::default() });
    assert_eq!(table.of("gpt-4o").abilities().window_tokens, 128_000);
}

#[test]
fn a_call_is_priced_by_cache_class_and_length() {
    let table = Capabilities::built_in();
    let usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 1_000_000,
        cache_read_tokens: 1_000_000,
        cache_write_tokens: 1_000_000,
    };
    let sonnet = table.of("claude-sonnet-4-6").prices().copied().unwrap();
    assert_eq!(sonnet.price(Written::Minutes).of(&usage), 22_050_000);
    assert_eq!(sonnet.price(Written::Hour).of(&usage), 24_300_000);
    let small = Usage { input_tokens: 1, ..Usage::default() };
    assert_eq!(sonnet.price(Written::Minutes).of(&small), 3);
    let gpt = table.of("gpt-5.4").prices().unwrap().price(Written::Minutes);
    let short = Usage { input_tokens: 100_000, ..Usage::default() };
    let long = Usage { input_tokens: 300_000, ..Usage::default() };
    assert_eq!(gpt.of(&short), 250_000);
    assert_eq!(gpt.of(&long), 1_500_000);
    let cached = Usage { cache_read_tokens: 272_000, input_tokens: 1, ..Usage::default() };
    assert_eq!(gpt.of(&cached), 136_005, "what is cached makes a prompt long, too");
    let absurd = Usage { input_tokens: u64::MAX, ..Usage::default() };
    assert_eq!(sonnet.price(Written::Minutes).of(&absurd), u64::MAX);
}
