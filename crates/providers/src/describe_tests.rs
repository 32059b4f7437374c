use windlass_core::settings::Forcing;

use crate::capabilities::Capabilities;
use crate::describe::{Described, Standing, describe};
use crate::names::Providers;
use crate::options::CacheLife;
use crate::overrides::Overrides;

fn described(name: &str, cache: CacheLife) -> Described {
    describe(&Providers::built_in(), &Capabilities::built_in(), cache, name).unwrap()
}

#[test]
fn a_listed_model_has_its_window_limits_price_and_forcing() {
    let sonnet = described("claude-sonnet-4-6", CacheLife::FiveMinutes);
    assert_eq!((sonnet.standing, &*sonnet.provider), (Standing::Listed, "anthropic"));
    assert_eq!(&*sonnet.model.name, "claude-sonnet-4-6");
    assert_eq!(sonnet.model.window_tokens, 1_000_000);
    assert_eq!(sonnet.model.most_output_tokens, 128_000);
    assert_eq!(sonnet.model.max_tokens, 16_384);
    assert_eq!(sonnet.model.forcing, Forcing::Possible);
    let price = sonnet.model.price.unwrap();
    assert_eq!((price.input_usd_micros, price.output_usd_micros), (3_000_000, 15_000_000));
    assert_eq!(price.cache_write_usd_micros, 3_750_000);
    let hour = described("claude-sonnet-4-6", CacheLife::OneHour).model.price.unwrap();
    assert_eq!(hour.cache_write_usd_micros, 6_000_000);
    let newest = described("claude-opus-5-5", CacheLife::Off);
    assert_eq!(newest.model.forcing, Forcing::Impossible);
    let gpt = described("openai:gpt-4o", CacheLife::Off);
    assert_eq!((&*gpt.model.name, gpt.model.max_tokens), ("openai:gpt-4o", 8_192));
}

#[test]
fn an_unlisted_model_is_an_explicit_state() {
    let local = described("ollama:qwen3:8b", CacheLife::Off);
    assert_eq!(local.standing, Standing::Unlisted);
    assert_eq!(local.model.price, None);
    assert_eq!((local.model.window_tokens, local.model.most_output_tokens), (128_000, 32_000));
}

#[test]
fn the_users_rows_describe_models_too() {
    let rows = r#"{"models":{"tiny":{"window_tokens":4096,"most_output_tokens":4096,"thinking":[],
            "prices":{"input":1,"output":2,"cache_read":0,"cache_write":1,"cache_write_hour":1}}},
        "providers":{"lab":{"format":"openai_chat","base_url":"http://127.0.0.1:9/v1"}}}"#;
    let rows = Overrides::from_json(rows).unwrap();
    let providers = Providers::built_in().with_rows(&rows.providers).unwrap();
    let capabilities = Capabilities::built_in().with_rows(&rows.models);
    let tiny = describe(&providers, &capabilities, CacheLife::Off, "lab:tiny").unwrap();
    assert_eq!((tiny.standing, tiny.source.as_str()), (Standing::Listed, "the user"));
    assert_eq!(tiny.model.max_tokens, 1_024, "there must be room for a conversation");
    assert_eq!(tiny.model.price.unwrap().output_usd_micros, 2);
    assert!(describe(&providers, &capabilities, CacheLife::Off, "nobody").is_err());
}
