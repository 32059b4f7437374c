//! What the model is sent and what it sends back.

pub mod content_block;
#[cfg(test)]
mod content_block_tests;
pub mod history_message;
#[cfg(test)]
mod history_message_tests;
pub mod loaded_tools;
pub mod normalise;
#[cfg(test)]
mod normalise_tests;
pub mod prompt_texts;
pub mod raw_json;
#[cfg(test)]
mod raw_json_tests;
pub mod reply;
pub mod request;
pub mod request_check;
#[cfg(test)]
mod request_check_tests;
pub mod response_envelope;
pub mod transcript;
#[cfg(test)]
mod transcript_tests;
pub mod truncate;
#[cfg(test)]
mod truncate_tests;
