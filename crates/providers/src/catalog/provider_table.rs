//! The provider table: a model's name selects its provider (`claude-…`, `openai:…`, `ollama:…`, or
//! a row of the user's).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::catalog::overrides::ProviderOverride;
use crate::secret::Secret;

/// The built-in providers.
const BUILT_IN_PROVIDERS: &str = include_str!("providers.json");

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireFormat {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Chat Completions.
    #[serde(rename = "openai_chat")]
    OpenAiChat,
    /// OpenAI Responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
}

impl WireFormat {
    /// Returns the name of the format in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic_messages",
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
        }
    }
}

/// How a server differs from its wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// Whether a tool choice may name a tool. Where it may not, only that tool is offered.
    pub named_choice: NamedChoice,
    /// The name of the output limit in Chat Completions requests.
    pub output_limit: OutputLimitField,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { named_choice: NamedChoice(true), output_limit: OutputLimitField::MaxTokens }
    }
}

/// Whether a tool choice may name a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct NamedChoice(pub bool);

/// The name of the output limit in Chat Completions requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimitField {
    /// The name that all servers except OpenAI use.
    MaxTokens,
    /// The name that OpenAI uses today.
    MaxCompletionTokens,
}

impl Dialect {
    pub(crate) fn supports_named_choice(self) -> bool {
        self.named_choice.0
    }

    pub(crate) fn output_limit_field(self) -> &'static str {
        match self.output_limit {
            OutputLimitField::MaxTokens => "max_tokens",
            OutputLimitField::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// A provider, as data.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The part of a model's name before the colon.
    pub name: Arc<str>,
    /// The wire format of the provider.
    pub format: WireFormat,
    /// The base URL of the provider.
    pub base_url: String,
    /// The variable that overrides the base URL.
    #[serde(default)]
    pub base_url_env: Option<String>,
    /// The variable with a key for the header `x-api-key`.
    #[serde(default)]
    pub key_env: Option<String>,
    /// The variable with a token for the header `authorization`.
    #[serde(default)]
    pub token_env: Option<String>,
    /// Whether it accepts requests without a key or token.
    #[serde(default)]
    pub key_optional: bool,
    /// How it differs from its format.
    #[serde(default)]
    pub dialect: Dialect,
    /// The prefixes of its models' names, for names without a colon.
    #[serde(default)]
    pub models: Vec<String>,
    /// The path that is added to a base URL that does not end with it: for services whose API is
    /// below the URL that users are given.
    #[serde(default)]
    pub path: String,
    /// Whether its models have names that the user chose (deployments, local models), so that one
    /// model's name says nothing about another's.
    #[serde(default)]
    pub has_custom_model_names: bool,
    /// The model to use when this provider has a key and no model is named.
    #[serde(default)]
    pub default_model: Option<String>,
}

/// A credential for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// A key for the header `x-api-key`.
    Key(Secret),
    /// A token for the header `authorization`.
    Token(Secret),
    /// No credential.
    None,
}

impl Credential {
    /// Returns the secret of the credential.
    #[must_use]
    pub fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Key(secret) | Self::Token(secret) => Some(secret),
            Self::None => None,
        }
    }
}

/// Why a model's name or provider cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No provider matches the name.
    #[error("unknown provider for model `{model}`; use `provider:model` with one of: {known}")]
    UnknownProvider {
        /// The name of the model.
        model: String,
        /// The names of the known providers.
        known: String,
    },
    /// The provider requires a key and none is set.
    #[error("no API key for {provider}; set {variables}")]
    MissingKey {
        /// The name of the provider.
        provider: Arc<str>,
        /// The variables that may contain the key.
        variables: String,
    },
    /// The provider has no base URL.
    #[error(
        "provider {provider} has no base URL; set {variable}, or base_url in [providers.{provider}]"
    )]
    MissingAddress {
        /// The name of the provider.
        provider: Arc<str>,
        /// The variable that may contain the base URL.
        variable: String,
    },
    /// A base URL is not valid.
    #[error(
        "base_url of provider `{provider}` is `{address}`; it must be an http:// or https:// URL"
    )]
    InvalidAddress {
        /// The name of the provider.
        provider: String,
        /// The base URL that was given.
        address: String,
    },
    /// A row of the user's is incomplete.
    #[error("provider `{provider}` has no {missing}; set it in [providers.{provider}]")]
    IncompleteProvider {
        /// The name of the provider.
        provider: String,
        /// What is missing.
        missing: &'static str,
    },
}

/// The providers that a name can select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderTable {
    rows: Vec<Provider>,
}

#[derive(Debug, Deserialize)]
struct ProvidersFile {
    providers: Vec<Provider>,
}

impl ProviderTable {
    /// Returns the built-in providers.
    #[must_use]
    pub fn built_in() -> Self {
        // A test parses the file; a table that cannot be parsed has no provider.
        Self { rows: parse_providers(BUILT_IN_PROVIDERS).unwrap_or_default() }
    }

    /// Adds the user's rows before the others. A row of a known name contains only what is
    /// different.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if a row is incomplete or its base URL is not valid.
    pub fn with_overrides(
        mut self,
        rows: &BTreeMap<String, ProviderOverride>,
    ) -> Result<Self, ProviderError> {
        for (name, row) in rows {
            let known = self.rows.iter().find(|known| *known.name == **name);
            let provider = row.to_provider(name, known)?;
            self.rows.retain(|known| *known.name != **name);
            self.rows.insert(0, provider);
        }
        Ok(self)
    }

    /// Adds a row before the others.
    #[must_use]
    pub fn with_provider(mut self, provider: Provider) -> Self {
        self.rows.insert(0, provider);
        self
    }

    /// Returns the provider of a model, and the model's name at the provider.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if no provider is known for the name.
    pub fn find<'a>(&self, model: &'a str) -> Result<(&Provider, &'a str), ProviderError> {
        if let Some((name, rest)) = model.split_once(':')
            && let Some(row) = self.rows.iter().find(|row| *row.name == *name)
        {
            return Ok((row, rest));
        }
        let begins = |row: &&Provider| row.models.iter().any(|begin| model.starts_with(begin));
        let row = self.rows.iter().find(begins).ok_or_else(|| self.unknown_provider(model))?;
        Ok((row, model))
    }

    /// Returns every provider, the user's own first.
    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.rows.iter()
    }

    /// Returns the default model: that of the first provider with a key.
    #[must_use]
    pub fn default_model(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let has_key = |row: &&Provider| {
            row.resolve_credential(variable).is_ok_and(|credential| credential.secret().is_some())
        };
        let with_default = self.rows.iter().filter(|row| row.default_model.is_some());
        with_default.filter(has_key).find_map(|row| row.default_model.clone())
    }

    fn unknown_provider(&self, model: &str) -> ProviderError {
        let known: Vec<&str> = self.rows.iter().map(|row| &*row.name).collect();
        ProviderError::UnknownProvider { model: model.to_owned(), known: known.join(", ") }
    }
}

impl Provider {
    /// Returns the base URL, from its variable or its row.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if neither contains one.
    pub fn resolve_base_url(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<String, ProviderError> {
        let set =
            self.base_url_env.as_deref().and_then(|name| read_nonempty_variable(variable, name));
        let address = set.unwrap_or_else(|| self.base_url.clone());
        if address.trim().is_empty() {
            let variable = self.base_url_env.clone().unwrap_or_default();
            return Err(ProviderError::MissingAddress {
                provider: Arc::clone(&self.name),
                variable,
            });
        }
        let address = address.trim_end_matches('/');
        let path = if address.ends_with(&self.path) { "" } else { &self.path };
        Ok(format!("{address}{path}"))
    }

    /// Returns the key or token in its variables.
    ///
    /// # Errors
    ///
    /// Returns a [`ProviderError`] if a key is required and none is set.
    pub fn resolve_credential(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Credential, ProviderError> {
        let value = |name: &Option<String>| {
            name.as_deref().and_then(|name| read_nonempty_variable(variable, name))
        };
        if let Some(key) = value(&self.key_env) {
            return Ok(Credential::Key(Secret::new(&key)));
        }
        if let Some(token) = value(&self.token_env) {
            return Ok(Credential::Token(Secret::new(&token)));
        }
        if self.key_optional {
            return Ok(Credential::None);
        }
        let names: Vec<&str> =
            [&self.key_env, &self.token_env].into_iter().flatten().map(String::as_str).collect();
        let variables = names.join(" or ");
        Err(ProviderError::MissingKey { provider: Arc::clone(&self.name), variables })
    }
}

fn read_nonempty_variable(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

fn parse_providers(json: &str) -> Result<Vec<Provider>, serde_json::Error> {
    serde_json::from_str::<ProvidersFile>(json).map(|table| table.providers)
}
