//! A model at a server, and the services that all models of a process share.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, header};
use windlass_core::message::raw_json::sha256_hex;
use windlass_runtime::ports::Clock;

use crate::call::rate_limiter::RateLimiter;
use crate::catalog::capabilities::CapabilityTable;
use crate::catalog::provider_table::{Credential, Dialect, WireFormat};
use crate::error::call_error::CallError;
use crate::http::HttpClient;

/// A model at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The name of the provider in the configuration.
    pub provider: Arc<str>,
    /// The wire format of the server.
    pub format: WireFormat,
    /// The base URL of the server.
    pub base_url: String,
    /// The credential that is sent.
    pub credential: Credential,
    /// How the server differs from its format.
    pub dialect: Dialect,
    /// The name of the model at the server.
    pub model: Arc<str>,
}

/// Services that all models of a process share: connections, rate limits and capabilities.
#[derive(Clone)]
pub struct SharedServices {
    /// The HTTP client with its connections.
    pub client: Arc<HttpClient>,
    /// The rate limiter.
    pub limiter: Arc<RateLimiter>,
    /// The capabilities of models.
    pub capabilities: Arc<CapabilityTable>,
    /// The clock for deadlines and rate limits.
    pub clock: Arc<dyn Clock>,
}

impl SharedServices {
    /// Creates services with the built-in capability table, and nothing learned yet.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            client: Arc::new(HttpClient::new(Arc::clone(&clock))),
            limiter: Arc::new(RateLimiter::new(Arc::clone(&clock))),
            capabilities: Arc::new(CapabilityTable::built_in()),
            clock,
        }
    }
}

impl std::fmt::Debug for SharedServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The key of the rate limit gate of its calls: one per server, credential and model.
    pub(crate) fn limiter_key(&self) -> Arc<str> {
        let secret = self.credential.secret().map(|secret| sha256_hex(secret.expose().as_bytes()));
        let short = secret.as_deref().and_then(|hash| hash.get(..8)).unwrap_or("none");
        Arc::from(format!("{} {} {} {short}", self.provider, self.base_url, self.model))
    }

    /// The URL below which the format's path is.
    pub(crate) fn api_root(&self) -> &str {
        let address = self.base_url.trim_end_matches('/');
        match self.format {
            // The variable is set both with and without the version.
            WireFormat::AnthropicMessages => address.strip_suffix("/v1").unwrap_or(address),
            WireFormat::OpenAiChat | WireFormat::OpenAiResponses => address,
        }
    }

    /// The headers of every request.
    pub(crate) fn base_headers(&self) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let (name, value) = match &self.credential {
            Credential::None => return Ok(headers),
            Credential::Key(key) => ("x-api-key", key.expose().to_owned()),
            Credential::Token(token) => ("authorization", format!("Bearer {}", token.expose())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            CallError::Misconfigured(format!(
                "the API key for {} contains a character that is not allowed in an HTTP header; \
                 copy it again",
                self.provider
            ))
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(headers)
    }
}

/// Returns the name of this program with a comment, of which only harmless characters are kept.
pub(crate) fn user_agent_with(comment: &str) -> HeaderValue {
    let is_plain = |c: &char| c.is_ascii_graphic() && !"()\\".contains(*c) || *c == ' ';
    let comment: String = comment.chars().filter(is_plain).take(MAX_COMMENT_CHARS).collect();
    HeaderValue::from_str(&format!("{USER_AGENT} ({comment})"))
        .unwrap_or_else(|_| HeaderValue::from_static(USER_AGENT))
}

/// Maximum length of the comment in the `user-agent` header.
const MAX_COMMENT_CHARS: usize = 200;

const USER_AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));
