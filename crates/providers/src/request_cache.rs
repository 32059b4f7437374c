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
