//! Pages that were fetched a short time ago.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How long a page is kept.
const KEPT_MS: u64 = 15 * 60 * 1_000;

/// Maximum number of pages.
const MAX_PAGES: usize = 32;

/// Maximum size of all pages together.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The texts of pages by address, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct PageCache {
    pages: Mutex<VecDeque<CachedPage>>,
}

#[derive(Debug)]
struct CachedPage {
    url: String,
    text: String,
    until_ms: u64,
}

impl PageCache {
    /// The text of a page that is still fresh.
    pub(crate) fn get(&self, url: &str, now_ms: u64) -> Option<String> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = pages.iter().find(|page| page.url == url && page.until_ms > now_ms);
        fresh.map(|page| page.text.clone())
    }

    pub(crate) fn put(&self, url: String, text: String, now_ms: u64) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|page| page.url != url && page.until_ms > now_ms);
        pages.push_back(CachedPage { url, text, until_ms: now_ms.saturating_add(KEPT_MS) });
        let size = |pages: &VecDeque<CachedPage>| pages.iter().map(|p| p.text.len()).sum::<usize>();
        while pages.len() > MAX_PAGES || size(&pages) > MAX_BYTES {
            pages.pop_front();
        }
    }
}
