use crate::names::{Credential, Error, Format, Providers};

fn nothing_set(_: &str) -> Option<String> {
    None
}

#[test]
fn a_name_chooses_its_provider() {
    let table = Providers::built_in();
    let found =
        |model| table.find(model).map(|(row, name)| (row.name.to_string(), name.to_owned()));
    let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
    assert_eq!(found("claude-sonnet-4-6"), pair("anthropic", "claude-sonnet-4-6"));
    assert_eq!(found("openai:gpt-5.5"), pair("openai", "gpt-5.5"));
    assert_eq!(found("gpt-5.5"), pair("openai", "gpt-5.5"));
    assert_eq!(found("ollama:qwen3:8b"), pair("ollama", "qwen3:8b"));
    assert_eq!(found("openrouter:anthropic/claude-x"), pair("openrouter", "anthropic/claude-x"));
    let error = table.find("mystery").unwrap_err();
    assert!(error.to_string().contains("anthropic, openai"), "{error}");
}

#[test]
fn a_users_row_comes_first() {
    let row = r#"{"providers":[{"name":"lab","format":"openai_chat","base_url":"http://127.0.0.1:9",
        "key_optional":true,"models":["claude-"]}]}"#;
    let table = Providers::built_in().with_overrides(row).unwrap();
    let (provider, model) = table.find("claude-x").unwrap();
    assert_eq!((&*provider.name, provider.format, model), ("lab", Format::OpenAiChat, "claude-x"));
    assert!(matches!(Providers::built_in().with_overrides("[]"), Err(Error::BadTable { .. })));
}

#[test]
fn keys_tokens_and_addresses_come_from_the_environment() {
    let table = Providers::built_in();
    let (anthropic, _) = table.find("claude-x").unwrap();
    let key = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "key-1".to_owned());
    let token = |name: &str| (name == "ANTHROPIC_AUTH_TOKEN").then(|| "token-1".to_owned());
    let url = |name: &str| (name == "ANTHROPIC_BASE_URL").then(|| "http://127.0.0.1:1".to_owned());
    assert!(matches!(anthropic.credential(&key), Ok(Credential::Key(_))));
    assert!(matches!(anthropic.credential(&token), Ok(Credential::Token(_))));
    assert_eq!(anthropic.address(&url), "http://127.0.0.1:1");
    assert_eq!(anthropic.address(&nothing_set), "https://api.anthropic.com");
    let error = anthropic.credential(&nothing_set).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no key for anthropic; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"
    );
    let (ollama, _) = table.find("ollama:x").unwrap();
    assert_eq!(ollama.credential(&nothing_set), Ok(Credential::Nothing));
}
