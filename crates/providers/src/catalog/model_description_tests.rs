use windlass_core::settings::conversation_settings::ToolForcing;

use crate::catalog::capabilities::CapabilityTable;
use crate::catalog::model_description::{ModelDescription, describe_model};
use crate::catalog::overrides::CatalogOverrides;
use crate::catalog::provider_table::ProviderTable;
use windlass_core::settings::conversation_settings::CacheLifetime;

fn describe_built_in(name: &str, cache: CacheLifetime) -> ModelDescription {
    describe_model(&ProviderTable::built_in(), &CapabilityTable::built_in(), cache, name).unwrap()
}

#[test]
fn a_listed_model_has_its_window_limits_price_and_forcing() {
    let sonnet = describe_built_in("claude-sonnet-4-6", CacheLifetime::FiveMinutes);
    assert_eq!((sonnet.is_listed, &*sonnet.provider), (true, "anthropic"));
    assert_eq!(&*sonnet.model.name, "claude-sonnet-4-6");
    assert_eq!(sonnet.model.window_tokens, 1_000_000);
    assert_eq!(sonnet.model.max_output_tokens, 128_000);
    assert_eq!(sonnet.model.max_tokens, 16_384);
    assert_eq!(sonnet.model.forcing, ToolForcing::Supported);
    let price = sonnet.model.price.unwrap();
    assert_eq!((price.input_usd_micros, price.output_usd_micros), (3_000_000, 15_000_000));
    assert_eq!(price.cache_write_usd_micros, 3_750_000);
    let hour = describe_built_in("claude-sonnet-4-6", CacheLifetime::OneHour).model.price.unwrap();
    assert_eq!(hour.cache_write_usd_micros, 6_000_000);
    let newest = describe_built_in("claude-opus-5-5", CacheLifetime::Off);
    assert_eq!(newest.model.forcing, ToolForcing::Unsupported);
    let gpt = describe_built_in("openai:gpt-4o", CacheLifetime::Off);
    assert_eq!((&*gpt.model.name, gpt.model.max_tokens), ("openai:gpt-4o", 8_192));
}

#[test]
fn an_unlisted_model_is_an_explicit_state() {
    let local = describe_built_in("ollama:qwen3:8b", CacheLifetime::Off);
    assert!(!local.is_listed);
    assert_eq!(local.model.price, None);
    assert_eq!((local.model.window_tokens, local.model.max_output_tokens), (128_000, 32_000));
}

#[test]
fn the_users_rows_describe_models_too() {
    let rows = r#"{"models":{"tiny":{"window_tokens":4096,"max_output_tokens":4096,"thinking":[],
            "prices":{"input":1,"output":2,"cache_read":0,"cache_write":1,"cache_write_hour":1}}},
        "providers":{"lab":{"format":"openai_chat","base_url":"http://127.0.0.1:9/v1"}}}"#;
    let rows = CatalogOverrides::from_json(rows).unwrap();
    let providers = ProviderTable::built_in().with_overrides(&rows.providers).unwrap();
    let capabilities = CapabilityTable::built_in().with_overrides(&rows.models);
    let tiny = describe_model(&providers, &capabilities, CacheLifetime::Off, "lab:tiny").unwrap();
    assert_eq!((tiny.is_listed, tiny.source.as_str()), (true, "the user"));
    assert_eq!(tiny.model.max_tokens, 1_024, "there must be room for a conversation");
    assert_eq!(tiny.model.price.unwrap().output_usd_micros, 2);
    assert!(describe_model(&providers, &capabilities, CacheLifetime::Off, "nobody").is_err());
}

// spec: MODELS-10
#[test]
fn a_short_name_means_the_newest_of_its_family() {
    let (providers, table) = (ProviderTable::built_in(), CapabilityTable::built_in());
    let named = |name: &str| {
        describe_model(&providers, &table, CacheLifetime::FiveMinutes, name)
            .map(|described| described.model.name.to_string())
    };
    for (short, full) in [
        ("sonnet", "claude-sonnet-5-5"),
        ("opus", "claude-opus-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("fable", "claude-fable-5-1"),
        ("anthropic:sonnet", "anthropic:claude-sonnet-5-5"),
        // On a local server this name can mean any model.
        ("ollama:sonnet", "ollama:sonnet"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
    ] {
        assert_eq!(named(short).unwrap(), full);
    }
    assert!(named("verse").is_err() && named("").is_err());
}

// spec: WINDOW-05
#[test]
fn the_cheap_model_of_each_family_sums_up() {
    let cheap = |name: &str| {
        describe_built_in(name, CacheLifetime::FiveMinutes)
            .summary_model
            .map(|model| model.name.to_string())
    };
    for (name, wanted) in [
        ("opus", Some("claude-haiku-5-5")),
        ("anthropic:claude-sonnet-4-6", Some("anthropic:claude-haiku-5-5")),
        ("openai:gpt-6-sol", Some("openai:gpt-6-luna")),
        ("gpt-5.6-terra", Some("gpt-5.6-luna")),
        ("gpt-4o", Some("gpt-4o-mini")),
        ("gemini-2.5-pro", Some("gemini-2.5-flash")),
        ("openrouter:anthropic/claude-opus-5", Some("openrouter:anthropic/claude-haiku-5-5")),
        ("haiku", None),
        // The name of a deployment says nothing about other deployments.
        ("azure:gpt-6-sol", None),
        ("ollama:llama3", None),
    ] {
        assert_eq!(cheap(name).as_deref(), wanted, "{name}");
    }
}
