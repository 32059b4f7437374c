//! The web for agents: `WebFetch` reads a page as Markdown, `WebSearch` asks a search engine.
//!
//! A page is fetched from public addresses only. Every address that a name resolves to is checked,
//! the connection goes to an address that was checked, and each redirect is checked anew; there are
//! no cookies, no credentials and no proxy. Sizes are bounded after decompression.
//!
//! Not here: which domains a conversation may use, which is the permission policy of the core.

mod body;
mod fetch_error;
mod fetch_tool;
mod fetcher;
mod http_exchange;
mod markdown;
mod page_cache;
mod resolver;
mod search_engine;
mod search_tool;
mod target;

#[cfg(test)]
mod fetcher_tests;
#[cfg(test)]
mod markdown_tests;

pub use fetch_error::FetchError;
pub use fetch_tool::WebFetchTool;
pub use fetcher::{FetchLimits, Fetcher};
pub use search_engine::{SearchEngine, SearchError};
pub use search_tool::WebSearchTool;
pub use target::LocalHosts;
