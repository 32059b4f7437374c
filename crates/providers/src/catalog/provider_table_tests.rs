use crate::catalog::overrides::CatalogOverrides;
use crate::catalog::provider_table::{Credential, ProviderError, ProviderTable, WireFormat};

fn no_variables(_: &str) -> Option<String> {
    None
}

#[test]
fn a_name_chooses_its_provider() {
    let table = ProviderTable::built_in();
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
    let rows = r#"{"providers":{"lab":{"format":"openai_chat","base_url":"http://127.0.0.1:9",
        "key_env":"LAB_KEY","models":["claude-"]}}}"#;
    let rows = CatalogOverrides::from_json(rows).unwrap().providers;
    let table = ProviderTable::built_in().with_overrides(&rows).unwrap();
    let (provider, model) = table.find("claude-x").unwrap();
    assert_eq!(
        (&*provider.name, provider.format, model),
        ("lab", WireFormat::OpenAiChat, "claude-x")
    );
    let key = |name: &str| (name == "LAB_KEY").then(|| "key-1".to_owned());
    assert!(
        matches!(provider.resolve_credential(&key), Ok(Credential::Token(_))),
        "as the format has it"
    );
    assert_eq!(table.find("lab:m").unwrap().1, "m");
}

#[test]
fn a_row_of_a_known_name_says_what_is_different() {
    let rows = r#"{"providers":{"anthropic":{"base_url":"http://127.0.0.1:9"}}}"#;
    let rows = CatalogOverrides::from_json(rows).unwrap().providers;
    let table = ProviderTable::built_in().with_overrides(&rows).unwrap();
    let (provider, _) = table.find("claude-x").unwrap();
    assert_eq!(provider.resolve_base_url(&no_variables).unwrap(), "http://127.0.0.1:9");
    assert_eq!(provider.key_env.as_deref(), Some("ANTHROPIC_API_KEY"));
    for (row, missing) in
        [(r#"{"format":"openai_chat"}"#, "base_url"), (r#"{"base_url":"http://a"}"#, "format")]
    {
        let rows =
            CatalogOverrides::from_json(&format!(r#"{{"providers":{{"lab":{row}}}}}"#)).unwrap();
        let error = ProviderTable::built_in().with_overrides(&rows.providers).unwrap_err();
        assert!(matches!(error, ProviderError::IncompleteProvider { .. }));
        assert!(error.to_string().contains(&format!("no {missing}")), "{error}");
    }
}

#[test]
fn keys_tokens_and_addresses_come_from_the_environment() {
    let table = ProviderTable::built_in();
    let (anthropic, _) = table.find("claude-x").unwrap();
    let key = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "key-1".to_owned());
    let token = |name: &str| (name == "ANTHROPIC_AUTH_TOKEN").then(|| "token-1".to_owned());
    let url = |name: &str| (name == "ANTHROPIC_BASE_URL").then(|| "http://127.0.0.1:1".to_owned());
    assert!(matches!(anthropic.resolve_credential(&key), Ok(Credential::Key(_))));
    assert!(matches!(anthropic.resolve_credential(&token), Ok(Credential::Token(_))));
    assert_eq!(anthropic.resolve_base_url(&url).unwrap(), "http://127.0.0.1:1");
    assert_eq!(anthropic.resolve_base_url(&no_variables).unwrap(), "https://api.anthropic.com");
    let error = anthropic.resolve_credential(&no_variables).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no API key for anthropic; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"
    );
    let (ollama, _) = table.find("ollama:x").unwrap();
    assert_eq!(ollama.resolve_credential(&no_variables), Ok(Credential::None));
}

#[test]
fn an_address_is_checked_and_completed() {
    let table = ProviderTable::built_in();
    let (azure, model) = table.find("azure:my-deployment").unwrap();
    assert_eq!((&*azure.name, model), ("azure", "my-deployment"));
    let error = azure.resolve_base_url(&no_variables).unwrap_err().to_string();
    assert!(error.contains("set AZURE_OPENAI_ENDPOINT"), "{error}");
    for given in ["https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1/"] {
        let set = |name: &str| (name == "AZURE_OPENAI_ENDPOINT").then(|| given.to_owned());
        assert_eq!(azure.resolve_base_url(&set).unwrap(), "https://r.openai.azure.com/openai/v1");
    }
    assert_eq!(&*table.find("gemini-2.5-pro").unwrap().0.name, "gemini");
    for bad in ["", "localhost:8000", "ftp://x", "http://", "file:///etc"] {
        let row =
            format!(r#"{{"providers":{{"lab":{{"format":"openai_chat","base_url":"{bad}"}}}}}}"#);
        let rows = CatalogOverrides::from_json(&row).unwrap().providers;
        let error = ProviderTable::built_in().with_overrides(&rows).unwrap_err().to_string();
        assert!(error.contains("must be an http:// or https:// URL"), "{bad}: {error}");
    }
}

#[test]
fn a_key_chooses_the_default_model() {
    let table = ProviderTable::built_in();
    let with = |keys: &'static [&'static str]| {
        let set = move |name: &str| keys.contains(&name).then(|| "k".to_owned());
        table.default_model(&set)
    };
    assert_eq!(with(&[]), None);
    assert_eq!(with(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]).as_deref(), Some("sonnet"));
    assert_eq!(with(&["ANTHROPIC_AUTH_TOKEN"]).as_deref(), Some("sonnet"));
    assert_eq!(with(&["OPENAI_API_KEY"]).as_deref(), Some("gpt-6-sol"));
    assert_eq!(with(&["GEMINI_API_KEY"]).as_deref(), Some("gemini-2.5-pro"));
}
