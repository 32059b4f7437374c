//! Search engines that are asked over HTTP: a SearXNG instance, or Brave Search. A person has
//! configured the endpoint, so it may be anywhere; what it returns is data.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;
use windlass_runtime::ports::Clock;

use crate::http_exchange::{RequestKind, send_request};
use crate::resolver::{Resolver, SystemResolver};
use crate::target::FetchTarget;

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Milliseconds that a search may take.
pub(crate) const SEARCH_MS: u64 = 20_000;

/// The endpoint of Brave Search.
const BRAVE_ENDPOINT: &str = "https://api.search.brave.com/res/v1/web/search";

/// The headers of a request.
type RequestHeaders = Vec<(&'static str, String)>;

/// A search engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchEngine {
    /// A SearXNG instance whose JSON format is enabled.
    SearXng {
        /// The address of the instance.
        url: String,
    },
    /// Brave Search.
    Brave {
        /// The key of the API.
        key: String,
        /// The endpoint, if it is not the usual one.
        url: Option<String>,
    },
}

/// Why a search failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The engine cannot be reached or does not answer properly.
    #[error("the search engine failed: {0}")]
    Failed(String),
    /// The engine has not answered in time.
    #[error("the search took longer than {SEARCH_MS} ms")]
    TimedOut,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchResult {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl SearchEngine {
    /// Searches, and returns the results in the engine's order.
    pub(crate) async fn search(
        &self,
        query: &str,
        clock: &Arc<dyn Clock>,
    ) -> Result<Vec<SearchResult>, SearchError> {
        tokio::select! {
            found = self.request(query) => found,
            () = clock.sleep(SEARCH_MS) => Err(SearchError::TimedOut),
        }
    }

    async fn request(&self, query: &str) -> Result<Vec<SearchResult>, SearchError> {
        let failed = |reason: String| SearchError::Failed(reason);
        let (url, headers) = self.request_for(query)?;
        let target = FetchTarget::parse(&url).map_err(|error| failed(error.to_string()))?;
        let addresses = SystemResolver.resolve(&target.host, target.port).await;
        let addresses: Vec<SocketAddr> = addresses.map_err(|error| failed(error.to_string()))?;
        let answer = send_request(&target, &addresses, &headers, RequestKind::Get).await;
        let answer = answer.map_err(|error| failed(error.to_string()))?;
        if answer.status != 200 {
            return Err(failed(format!("it answered with status {}", answer.status)));
        }
        let body = answer.read_body(&target, MAX_ANSWER_BYTES).await;
        let (bytes, _) = body.map_err(|error| failed(error.to_string()))?;
        let answer: Value = serde_json::from_slice(&bytes)
            .map_err(|error| failed(format!("its answer is not JSON: {error}")))?;
        Ok(self.results_of(&answer))
    }

    /// The address and the headers of a request.
    fn request_for(&self, query: &str) -> Result<(String, RequestHeaders), SearchError> {
        let accept = ("accept", "application/json".to_owned());
        let (base, parameters, headers) = match self {
            Self::SearXng { url } => {
                let base = format!("{}/search", url.trim_end_matches('/'));
                (base, vec![("q", query), ("format", "json")], vec![accept])
            }
            Self::Brave { key, url } => {
                let base = url.clone().unwrap_or_else(|| BRAVE_ENDPOINT.to_owned());
                let token = ("x-subscription-token", key.clone());
                (base, vec![("q", query), ("count", "20")], vec![accept, token])
            }
        };
        let url = url::Url::parse_with_params(&base, parameters)
            .map_err(|error| SearchError::Failed(format!("its address is not valid: {error}")))?;
        Ok((url.to_string(), headers))
    }

    fn results_of(&self, answer: &Value) -> Vec<SearchResult> {
        let (list, snippet) = match self {
            Self::SearXng { .. } => (answer.get("results"), "content"),
            Self::Brave { .. } => (answer.pointer("/web/results"), "description"),
        };
        let text = |result: &Value, name: &str| {
            let text = result.get(name).and_then(Value::as_str).unwrap_or_default();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let result = |value: &Value| SearchResult {
            title: text(value, "title"),
            url: text(value, "url"),
            snippet: text(value, snippet),
        };
        let all = list.and_then(Value::as_array).into_iter().flatten().map(result);
        all.filter(|result| !result.url.is_empty()).collect()
    }
}
