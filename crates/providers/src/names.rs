//! A model's name chooses its provider: `claude-…`, `openai:…`, `ollama:…`, or a row of the user's.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::overrides::ProviderRow;
use crate::secret::Secret;

/// The providers everybody knows.
const BUILT_IN: &str = include_str!("providers.json");

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Anthropic's Messages.
    AnthropicMessages,
    /// OpenAI's Chat Completions.
    #[serde(rename = "openai_chat")]
    OpenAiChat,
    /// OpenAI's Responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
}

impl Format {
    /// Its name, as a configuration has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic_messages",
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
        }
    }
}

/// How a server differs from the format it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// Whether a tool choice may name a tool. Where it may not, the tool is offered alone.
    pub named_choice: NamedChoice,
    /// What the output limit of a chat is called.
    pub output_limit: OutputLimit,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { named_choice: NamedChoice(true), output_limit: OutputLimit::MaxTokens }
    }
}

/// Whether a tool choice may name a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct NamedChoice(pub bool);

/// What the output limit of a chat is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    /// As everybody but OpenAI calls it.
    MaxTokens,
    /// As OpenAI calls it today.
    MaxCompletionTokens,
}

impl Dialect {
    pub(crate) fn takes_named_choice(self) -> bool {
        self.named_choice.0
    }

    pub(crate) fn output_limit_field(self) -> &'static str {
        match self.output_limit {
            OutputLimit::MaxTokens => "max_tokens",
            OutputLimit::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// A provider, as data.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// What stands before the colon of a model's name.
    pub name: Arc<str>,
    /// What it speaks.
    pub format: Format,
    /// Where it is.
    pub base_url: String,
    /// The variable that overrides where it is.
    #[serde(default)]
    pub base_url_env: Option<String>,
    /// The variable with a key for the header `x-api-key`.
    #[serde(default)]
    pub key_env: Option<String>,
    /// The variable with a token for the header `authorization`.
    #[serde(default)]
    pub token_env: Option<String>,
    /// Whether it answers without either.
    #[serde(default)]
    pub key_optional: bool,
    /// How it differs from its format.
    #[serde(default)]
    pub dialect: Dialect,
    /// How its models' names begin, for names without a colon.
    #[serde(default)]
    pub models: Vec<String>,
    /// What is added to an address that does not end with it: where a service has its API below the
    /// address that people are given.
    #[serde(default)]
    pub path: String,
    /// Whether its models have names of the user's own (deployments, local models), so that one
    /// model's name says nothing of another's.
    #[serde(default)]
    pub own_names: bool,
    /// The model that is asked when this provider has a key and nobody named one.
    #[serde(default)]
    pub default_model: Option<String>,
}

/// How to prove who is asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// The header `x-api-key`.
    Key(Secret),
    /// The header `authorization`.
    Token(Secret),
    /// Nothing.
    Nothing,
}

impl Credential {
    /// The secret in it.
    #[must_use]
    pub fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Key(secret) | Self::Token(secret) => Some(secret),
            Self::Nothing => None,
        }
    }
}

/// A name that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No row fits.
    #[error(
        "no provider is known for the model `{model}`; write `provider:model` with one of: {known}"
    )]
    UnknownProvider {
        /// The name.
        model: String,
        /// What would do.
        known: String,
    },
    /// The provider wants a key and none is set.
    #[error("no key for {provider}; set {variables}")]
    NoKey {
        /// The provider.
        provider: Arc<str>,
        /// Where a key would be looked for.
        variables: String,
    },
    /// Where the provider is, nobody said.
    #[error(
        "the provider {provider} has no address; set {variable}, or base_url in [providers.{provider}]"
    )]
    NoAddress {
        /// The provider.
        provider: Arc<str>,
        /// Where an address would be looked for.
        variable: String,
    },
    /// An address that is none.
    #[error(
        "the provider `{provider}` is at `{address}`, which is not an http:// or https:// address"
    )]
    BadAddress {
        /// The provider.
        provider: String,
        /// What was given.
        address: String,
    },
    /// A row of the user's says too little.
    #[error("the provider `{provider}` has no {missing}; say it in [providers.{provider}]")]
    Incomplete {
        /// The provider.
        provider: String,
        /// What is missing.
        missing: &'static str,
    },
}

/// The providers a name may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Providers {
    rows: Vec<Provider>,
}

#[derive(Debug, Deserialize)]
struct Table {
    providers: Vec<Provider>,
}

impl Providers {
    /// The ones everybody knows.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads the file; a table that cannot be read knows no provider.
        Self { rows: read(BUILT_IN).unwrap_or_default() }
    }

    /// Puts a user's rows before the others. A row of a known name says only what is different.
    pub fn with_rows(mut self, rows: &BTreeMap<String, ProviderRow>) -> Result<Self, Error> {
        for (name, row) in rows {
            let known = self.rows.iter().find(|known| *known.name == **name);
            let provider = row.provider(name, known)?;
            self.rows.retain(|known| *known.name != **name);
            self.rows.insert(0, provider);
        }
        Ok(self)
    }

    /// Puts a row before the others.
    #[must_use]
    pub fn with(mut self, provider: Provider) -> Self {
        self.rows.insert(0, provider);
        self
    }

    /// The provider of a model, and the model's name there.
    pub fn find<'a>(&self, model: &'a str) -> Result<(&Provider, &'a str), Error> {
        if let Some((name, rest)) = model.split_once(':')
            && let Some(row) = self.rows.iter().find(|row| *row.name == *name)
        {
            return Ok((row, rest));
        }
        let begins = |row: &&Provider| row.models.iter().any(|begin| model.starts_with(begin));
        let row = self.rows.iter().find(begins).ok_or_else(|| self.unknown(model))?;
        Ok((row, model))
    }

    /// Every provider, the user's own first.
    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.rows.iter()
    }

    /// The model to ask where nobody named one: that of the first provider with a key.
    #[must_use]
    pub fn default_model(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let has_key = |row: &&Provider| {
            row.credential(variable).is_ok_and(|credential| credential.secret().is_some())
        };
        let with_default = self.rows.iter().filter(|row| row.default_model.is_some());
        with_default.filter(has_key).find_map(|row| row.default_model.clone())
    }

    fn unknown(&self, model: &str) -> Error {
        let known: Vec<&str> = self.rows.iter().map(|row| &*row.name).collect();
        Error::UnknownProvider { model: model.to_owned(), known: known.join(", ") }
    }
}

impl Provider {
    /// Where it is, by its variable or its row.
    ///
    /// # Errors
    ///
    /// If neither says it.
    pub fn address(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, Error> {
        let set = self.base_url_env.as_deref().and_then(|name| filled(variable, name));
        let address = set.unwrap_or_else(|| self.base_url.clone());
        if address.trim().is_empty() {
            let variable = self.base_url_env.clone().unwrap_or_default();
            return Err(Error::NoAddress { provider: Arc::clone(&self.name), variable });
        }
        let address = address.trim_end_matches('/');
        let path = if address.ends_with(&self.path) { "" } else { &self.path };
        Ok(format!("{address}{path}"))
    }

    /// The key or token in its variables.
    pub fn credential(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Credential, Error> {
        let value = |name: &Option<String>| name.as_deref().and_then(|name| filled(variable, name));
        if let Some(key) = value(&self.key_env) {
            return Ok(Credential::Key(Secret::new(&key)));
        }
        if let Some(token) = value(&self.token_env) {
            return Ok(Credential::Token(Secret::new(&token)));
        }
        if self.key_optional {
            return Ok(Credential::Nothing);
        }
        let names: Vec<&str> =
            [&self.key_env, &self.token_env].into_iter().flatten().map(String::as_str).collect();
        let variables = names.join(" or ");
        Err(Error::NoKey { provider: Arc::clone(&self.name), variables })
    }
}

fn filled(variable: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.trim().is_empty())
}

fn read(json: &str) -> Result<Vec<Provider>, serde_json::Error> {
    serde_json::from_str::<Table>(json).map(|table| table.providers)
}
