//! The unchanging beginnings of requests, encoded once for each set of settings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use windlass_core::settings::Settings;

use crate::limits::KEPT_ENCODINGS;

#[derive(Default)]
pub(crate) struct Heads {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The settings are held, so that an address cannot come to mean others.
    by_address: HashMap<usize, (Arc<Settings>, Bytes)>,
    /// Conversations of one agent have equal heads: they share the bytes.
    last: Bytes,
}

impl Heads {
    /// The head for these settings.
    pub(crate) fn of(&self, settings: &Arc<Settings>, encode: impl FnOnce() -> Vec<u8>) -> Bytes {
        let address = Arc::as_ptr(settings).addr();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, head)) = kept.by_address.get(&address) {
            return head.clone();
        }
        let fresh = encode();
        if kept.last != fresh {
            kept.last = Bytes::from(fresh);
        }
        if kept.by_address.len() >= KEPT_ENCODINGS {
            kept.by_address.clear();
        }
        let head = kept.last.clone();
        kept.by_address.insert(address, (Arc::clone(settings), head.clone()));
        head
    }
}
