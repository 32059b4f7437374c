//! `[web]` of `config.toml`, and the tools that it configures: `WebFetch` and `WebSearch`.

use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Deserialize;
use windlass::ToolRegistry;
use windlass::ports::Clock;
use windlass_web::{FetchLimits, Fetcher, LocalHosts, SearchEngine, WebFetchTool, WebSearchTool};

/// The name of the tool that reads pages.
pub(crate) const FETCH_TOOL: &str = "WebFetch";

/// The name of the tool that searches.
pub(crate) const SEARCH_TOOL: &str = "WebSearch";

/// The longest time that one page may take, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 300_000;

/// The largest page, in bytes.
const MAX_PAGE_BYTES: usize = 64 * 1024 * 1024;

/// How long a webhook may take to answer, in milliseconds.
#[cfg(feature = "server")]
const WEBHOOK_TIMEOUT_MS: u64 = 15_000;

/// How agents use the web.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WebConfig {
    /// Hosts that may be fetched although they are not public, each with a port or for every port.
    pub(crate) local_hosts: Vec<String>,
    /// How long one page may take.
    pub(crate) timeout_ms: Option<u64>,
    /// How much of a page is read, decompressed.
    pub(crate) max_bytes: Option<usize>,
    /// The search engine.
    pub(crate) search: Option<SearchEngineName>,
    /// The address of the search engine.
    pub(crate) search_url: Option<String>,
    /// The environment variable with the key of the search engine.
    pub(crate) search_key_env: Option<String>,
}

/// A search engine, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SearchEngineName {
    /// A SearXNG instance.
    SearXng,
    /// Brave Search.
    Brave,
}

impl WebConfig {
    /// The tools of these names, as they are configured.
    pub(crate) fn registry(
        &self,
        clock: &Arc<dyn Clock>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> anyhow::Result<ToolRegistry> {
        let mut tools = ToolRegistry::default();
        if is_wanted(FETCH_TOOL) {
            let hosts = LocalHosts::new(self.local_hosts.iter().cloned());
            let fetcher = Fetcher::new(hosts, self.limits()?, Arc::clone(clock));
            tools = tools.with(WebFetchTool::new(fetcher));
        }
        if let Some(engine) = self.search_engine()?.filter(|_| is_wanted(SEARCH_TOOL)) {
            tools = tools.with(WebSearchTool::new(engine, Arc::clone(clock)));
        }
        Ok(tools)
    }

    /// Sends messages to webhooks, under the same rules as `WebFetch`.
    #[cfg(feature = "server")]
    pub(crate) fn webhook_fetcher(&self, clock: &Arc<dyn Clock>) -> Fetcher {
        let hosts = LocalHosts::new(self.local_hosts.iter().cloned());
        let limits = FetchLimits { total_ms: WEBHOOK_TIMEOUT_MS, ..FetchLimits::default() };
        Fetcher::new(hosts, limits, Arc::clone(clock))
    }

    fn limits(&self) -> anyhow::Result<FetchLimits> {
        let usual = FetchLimits::default();
        let total_ms = self.timeout_ms.unwrap_or(usual.total_ms);
        let max_bytes = self.max_bytes.unwrap_or(usual.max_bytes);
        if !(1..=MAX_TIMEOUT_MS).contains(&total_ms) {
            bail!("`web.timeout_ms` is {total_ms}; it must be between 1 and {MAX_TIMEOUT_MS}");
        }
        if !(1..=MAX_PAGE_BYTES).contains(&max_bytes) {
            bail!("`web.max_bytes` is {max_bytes}; it must be between 1 and {MAX_PAGE_BYTES}");
        }
        Ok(FetchLimits { total_ms, max_bytes, ..usual })
    }

    /// The search engine; `None` if there is none. A key that is missing is an error only for runs.
    fn search_engine(&self) -> anyhow::Result<Option<SearchEngine>> {
        let url = self.search_url.clone();
        Ok(match self.search {
            None if url.is_some() || self.search_key_env.is_some() => {
                bail!("`web.search` is missing; set it to \"searxng\" or \"brave\"")
            }
            None => None,
            Some(SearchEngineName::SearXng) => {
                let url =
                    url.context("`web.search_url` is missing; give the address of SearXNG")?;
                Some(SearchEngine::SearXng { url })
            }
            Some(SearchEngineName::Brave) => {
                let variable = self.search_key_env.as_deref().unwrap_or("BRAVE_API_KEY");
                let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
                let key = key.with_context(|| {
                    format!("the variable {variable} has no key for Brave Search; set it")
                })?;
                Some(SearchEngine::Brave { key, url })
            }
        })
    }
}
