//! What is remembered of conversations, for as long as they are held somewhere else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_core::block::Block;
use windlass_core::request::Request;

use crate::limits::KEPT_ENCODINGS;
use crate::notice::Notice;
use crate::wire::Thoughts;

/// A conversation is known by its first segment.
#[derive(Default)]
pub(crate) struct Memory {
    kept: Mutex<HashMap<usize, Remembered>>,
}

struct Remembered {
    /// Held, so that the address cannot come to mean another conversation.
    first: Weak<[Block]>,
    thoughts: Thoughts,
    told: Vec<Notice>,
}

impl Memory {
    /// Whether the model is shown what it thought before.
    pub(crate) fn thoughts(&self, request: &Request) -> Thoughts {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_empty() {
            return Thoughts::Returned;
        }
        let first = first(request).map(address);
        first.and_then(|first| kept.get(&first)).map_or(Thoughts::Returned, |kept| kept.thoughts)
    }

    pub(crate) fn leave_thoughts_out(&self, request: &Request) {
        self.with(request, |remembered| remembered.thoughts = Thoughts::LeftOut);
    }

    /// Whether the conversation has not been told this yet; from now on it has.
    pub(crate) fn is_news(&self, request: &Request, notice: Notice) -> bool {
        let news = self.with(request, |remembered| {
            let news = !remembered.told.contains(&notice);
            if news {
                remembered.told.push(notice);
            }
            news
        });
        news.unwrap_or(true)
    }

    fn with<T>(&self, request: &Request, look: impl FnOnce(&mut Remembered) -> T) -> Option<T> {
        let first = first(request)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_ENCODINGS {
            kept.retain(|_, remembered| remembered.first.strong_count() > 0);
        }
        if kept.len() >= KEPT_ENCODINGS {
            kept.clear();
        }
        Some(look(kept.entry(address(first)).or_insert_with(|| Remembered {
            first: Arc::downgrade(first),
            thoughts: Thoughts::Returned,
            told: Vec::new(),
        })))
    }
}

fn first(request: &Request) -> Option<&Arc<[Block]>> {
    request.transcript.segments().front().map(|segment| &segment.blocks)
}

fn address(blocks: &Arc<[Block]>) -> usize {
    Arc::as_ptr(blocks).cast::<u8>().addr()
}
