//! OpenAI Chat Completions, and the compatible servers: vLLM, llama.cpp, Ollama, LM Studio,
//! OpenRouter, DeepSeek, Mistral, Groq.

mod chunk;
mod decode;
mod encode;
mod errors;
mod reply_parts;
mod request_body;

pub(crate) use decode::ChatDecoder;
pub(crate) use encode::ChatEncoder;
pub(crate) use errors::{ApiErrorDetails, error_from_event, parse_api_error};
pub(crate) use request_body::{encode_head, encode_tail};
