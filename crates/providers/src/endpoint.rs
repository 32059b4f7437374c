//! A model at a server, and what all models of a process share.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, header};
use windlass_core::raw::sha256_hex;
use windlass_runtime::ports::Clock;

use crate::capabilities::Capabilities;
use crate::fault::Fault;
use crate::http::Client;
use crate::limiter::Limiter;
use crate::names::{Credential, Dialect, Format};

/// A model at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What the provider is called here.
    pub provider: Arc<str>,
    /// What the server speaks.
    pub format: Format,
    /// Where it is.
    pub base_url: String,
    /// Who is asking.
    pub credential: Credential,
    /// How the server differs from its format.
    pub dialect: Dialect,
    /// The model's name there.
    pub model: Arc<str>,
}

/// What all models of a process share: connections, limits and knowledge.
#[derive(Clone)]
pub struct Shared {
    /// Connections.
    pub client: Arc<Client>,
    /// Limits of providers.
    pub limiter: Arc<Limiter>,
    /// What models can do.
    pub capabilities: Arc<Capabilities>,
    /// Time.
    pub clock: Arc<dyn Clock>,
}

impl Shared {
    /// The built-in table, and nothing learned yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            client: Arc::new(Client::new(Arc::clone(&clock))),
            limiter: Arc::new(Limiter::new(Arc::clone(&clock))),
            capabilities: Arc::new(Capabilities::built_in()),
            clock,
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The gate its calls go through: one per server, credential and model.
    pub(crate) fn gate_name(&self) -> Arc<str> {
        let secret = self.credential.secret().map(|secret| sha256_hex(secret.expose().as_bytes()));
        let short = secret.as_deref().and_then(|hash| hash.get(..8)).unwrap_or("none");
        Arc::from(format!("{} {} {} {short}", self.provider, self.base_url, self.model))
    }

    /// The address below which the format's path lies.
    pub(crate) fn address(&self) -> &str {
        let address = self.base_url.trim_end_matches('/');
        match self.format {
            // The variable is set with and without the version.
            Format::AnthropicMessages => address.strip_suffix("/v1").unwrap_or(address),
            Format::OpenAiChat | Format::OpenAiResponses => address,
        }
    }

    /// The headers of every request.
    pub(crate) fn headers(&self) -> Result<HeaderMap, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let (name, value) = match &self.credential {
            Credential::Nothing => return Ok(headers),
            Credential::Key(key) => ("x-api-key", key.expose().to_owned()),
            Credential::Token(token) => ("authorization", format!("Bearer {}", token.expose())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            Fault::Misconfigured(format!(
                "the key for {} has a character no header can hold; copy it again",
                self.provider
            ))
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }
}

const USER_AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));
