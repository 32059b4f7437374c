//! The beginnings of requests, encoded once for as long as they stay the same: tools and system
//! prompt. When the journal's digest or the tools on offer change, only the head is encoded anew;
//! the conversation behind it is not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use windlass_core::settings::Settings;

use crate::limits::KEPT_ENCODINGS;
use crate::plan::Plan;

#[derive(Default)]
pub(crate) struct Heads {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_address: HashMap<usize, Head>,
    /// Conversations of one agent have equal heads: they share the bytes.
    last: Bytes,
}

struct Head {
    /// Held, so that the address cannot come to mean other settings.
    settings: Weak<Settings>,
    digest: Arc<str>,
    only: Option<Arc<str>>,
    bytes: Bytes,
}

impl Head {
    fn is_for(&self, plan: &Plan<'_>) -> bool {
        self.only.as_ref() == plan.choice.only() && self.digest == plan.request.digest
    }
}

impl Heads {
    /// The head of this call.
    pub(crate) fn of(&self, plan: &Plan<'_>, encode: impl FnOnce() -> Vec<u8>) -> Bytes {
        let settings = &plan.request.settings;
        let address = Arc::as_ptr(settings).addr();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = kept.by_address.get(&address).filter(|head| head.is_for(plan)) {
            return head.bytes.clone();
        }
        let fresh = encode();
        if kept.last != fresh {
            kept.last = Bytes::from(fresh);
        }
        let bytes = kept.last.clone();
        kept.make_room();
        let head = Head {
            settings: Arc::downgrade(settings),
            digest: Arc::clone(&plan.request.digest),
            only: plan.choice.only().cloned(),
            bytes: bytes.clone(),
        };
        kept.by_address.insert(address, head);
        bytes
    }
}

impl Kept {
    fn make_room(&mut self) {
        if self.by_address.len() < KEPT_ENCODINGS {
            return;
        }
        self.by_address.retain(|_, head| head.settings.strong_count() > 0);
        if self.by_address.len() >= KEPT_ENCODINGS {
            self.by_address.clear();
        }
    }
}
