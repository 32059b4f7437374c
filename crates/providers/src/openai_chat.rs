//! OpenAI's Chat Completions, and everything that speaks like it: vLLM, llama.cpp, Ollama, LM
//! Studio, OpenRouter, DeepSeek, Mistral, Groq.

mod chunk;
mod decode;
mod encode;
mod faults;
mod head;
mod parts;

pub(crate) use decode::Decoder;
pub(crate) use encode::Chat;
pub(crate) use faults::{Told, reported, told};
pub(crate) use head::{head, tail};
