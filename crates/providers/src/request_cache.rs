//! The request cache: encoded parts of requests, so that the history is not encoded again for each
//! request.

pub(crate) mod body_cache;
#[cfg(test)]
mod body_cache_tests;
pub(crate) mod encoded_conversation;
pub(crate) mod prefix_cache;
pub(crate) mod shared_buffer;
#[cfg(test)]
mod shared_buffer_tests;

use std::sync::Arc;

/// Returns the address of a shared value, which identifies it for as long as it is held.
pub(crate) fn address_of<T: ?Sized>(value: &Arc<T>) -> usize {
    Arc::as_ptr(value).addr()
}
