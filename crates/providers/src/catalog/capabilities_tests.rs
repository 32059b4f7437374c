use windlass_core::message::reply::TokenUsage;

use crate::catalog::capabilities::{CapabilityTable, Evidence, ForcedChoice, LearnedLimits};
use crate::catalog::overrides::CatalogOverrides;
use crate::catalog::prices::{CacheWriteLifetime, LongPromptPrices};

#[test]
fn the_table_is_read_and_has_prices_of_every_class() {
    let table = CapabilityTable::built_in();
    for model in ["claude-sonnet-4-6", "claude-opus-5-5", "gpt-5.5", "gpt-4o-mini"] {
        let knowledge = table.lookup(model);
        assert!(knowledge.is_listed(), "{model}");
        let prices = knowledge.prices().unwrap();
        assert!(prices.output > prices.input && prices.input > prices.cache_read, "{model}");
        assert!(!knowledge.capabilities().source.is_empty());
    }
}

/// Every row names its evidence: the provider's own pages, or other publications. The table says
/// which date it is from.
// spec: BUDGETS-07
#[test]
fn a_price_says_where_it_was_read_and_by_whom() {
    let table: serde_json::Value = serde_json::from_str(include_str!("models.json")).unwrap();
    assert_eq!(table["checked"].as_str().unwrap().len(), "2026-11-15".len());
    for row in table["models"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        let knowledge = CapabilityTable::built_in().lookup(id);
        let abilities = knowledge.capabilities();
        assert!(abilities.source.contains('.'), "{id}: {}", abilities.source);
        let own = abilities.source.starts_with("https://platform.claude.com/");
        assert_eq!(abilities.evidence == Evidence::Provider, own, "{id}");
        let prices = knowledge.prices().unwrap();
        let step = prices.above.unwrap_or(LongPromptPrices {
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
    let table = CapabilityTable::built_in();
    let dated = ["claude-haiku-4-5-20251001", "claude-sonnet-4-5@20250929", "gpt-5-2025-08-07"];
    for model in dated.into_iter().chain(["openai/gpt-4.1", "claude-opus-5-latest"]) {
        assert!(table.lookup(model).is_listed(), "{model}");
    }
    assert_eq!(table.lookup("claude-haiku-4-5-20251001").capabilities().id, "claude-haiku-4-5");
}

// spec: BUDGETS-07
#[test]
fn an_unknown_model_says_so_and_has_no_price() {
    let knowledge = CapabilityTable::built_in().lookup("llama-of-somebody");
    assert!(!knowledge.is_listed());
    assert_eq!(knowledge.prices(), None);
    assert_eq!(knowledge.capabilities().window_tokens, 128_000);
}

// spec: MODELS-09
#[test]
fn a_users_row_says_what_is_different() {
    let rows = r#"{"models":{"mine":{"window_tokens":8192,"max_output_tokens":1024,
        "forced_choice":"never"},"claude-sonnet-4-6":{"window_tokens":200000}}}"#;
    let rows = CatalogOverrides::from_json(rows).unwrap();
    let table = CapabilityTable::built_in().with_overrides(&rows.models);
    let mine = table.lookup("mine");
    assert!(mine.is_listed());
    assert_eq!(mine.capabilities().forced_choice, ForcedChoice::Never);
    assert_eq!(mine.prices(), None);
    let sonnet = table.lookup("claude-sonnet-4-6-20260101").capabilities().clone();
    assert_eq!((sonnet.window_tokens, sonnet.max_output_tokens), (200_000, 128_000));
    assert!(sonnet.prices.is_some());
    for bad in ["{", r#"{"models":{"m":{"windows":1}}}"#, r#"{"model":{}}"#] {
        let error = CatalogOverrides::from_json(bad).unwrap_err().to_string();
        assert!(error.contains("see docs/providers.md"), "{error}");
    }
}

// spec: MODELS-09
#[test]
fn what_an_error_taught_narrows_what_the_table_says() {
    let table = CapabilityTable::built_in();
    let lesson = LearnedLimits { window_tokens: Some(8_192), max_output_tokens: None };
    table.record_learned_limits("llama-of-somebody", lesson);
    table.record_learned_limits(
        "llama-of-somebody",
        LearnedLimits { max_output_tokens: Some(512), ..lesson },
    );
    let abilities = table.lookup("llama-of-somebody").capabilities().clone();
    assert_eq!((abilities.window_tokens, abilities.max_output_tokens), (8_192, 512));
    table.record_learned_limits(
        "gpt-4o",
        LearnedLimits { window_tokens: Some(u64::MAX), ..LearnedLimits::default() },
    );
    assert_eq!(table.lookup("gpt-4o").capabilities().window_tokens, 128_000);
}

#[test]
fn a_call_is_priced_by_cache_class_and_length() {
    let table = CapabilityTable::built_in();
    let usage = TokenUsage {
        input_tokens: 1_000_000,
        output_tokens: 1_000_000,
        cache_read_tokens: 1_000_000,
        cache_write_tokens: 1_000_000,
    };
    let sonnet = table.lookup("claude-sonnet-4-6").prices().copied().unwrap();
    assert_eq!(sonnet.to_price(CacheWriteLifetime::Minutes).cost_of(&usage), 22_050_000);
    assert_eq!(sonnet.to_price(CacheWriteLifetime::Hour).cost_of(&usage), 24_300_000);
    let small = TokenUsage { input_tokens: 1, ..TokenUsage::default() };
    assert_eq!(sonnet.to_price(CacheWriteLifetime::Minutes).cost_of(&small), 3);
    let gpt = table.lookup("gpt-5.4").prices().unwrap().to_price(CacheWriteLifetime::Minutes);
    let short = TokenUsage { input_tokens: 100_000, ..TokenUsage::default() };
    let long = TokenUsage { input_tokens: 300_000, ..TokenUsage::default() };
    assert_eq!(gpt.cost_of(&short), 250_000);
    assert_eq!(gpt.cost_of(&long), 1_500_000);
    let cached =
        TokenUsage { cache_read_tokens: 272_000, input_tokens: 1, ..TokenUsage::default() };
    assert_eq!(gpt.cost_of(&cached), 136_005, "what is cached makes a prompt long, too");
    let absurd = TokenUsage { input_tokens: u64::MAX, ..TokenUsage::default() };
    assert_eq!(sonnet.to_price(CacheWriteLifetime::Minutes).cost_of(&absurd), u64::MAX);
}
