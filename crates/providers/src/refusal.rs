//! Answers that are no replies: what the server said, and what to do about it.

use http::HeaderMap;
use windlass_core::ids::Millis;

use crate::fault::Fault;
use crate::openai_chat::{Told, told};
use crate::retry_after;

/// Characters of a text that is no JSON which are worth showing.
const SHOWN_CHARS: u64 = 300;

/// The fault in an answer with a status that says no.
pub(crate) fn refused(status: u16, headers: &HeaderMap, body: &str, now: Millis) -> Fault {
    let Told { kind, message, .. } = told(body).unwrap_or_else(|| untold(body));
    let retry_after_ms = wait_ms(headers, now);
    Fault::Refused { status, kind, message, advice: advice(status), retry_after_ms }
}

/// The fault in an answer that said yes and is not what was asked for.
pub(crate) fn not_a_model(body: &str) -> Fault {
    let Told { message, .. } = untold(body);
    Fault::NotAModel(format!(
        "the server answered with {message}; check that the address is a model's API"
    ))
}

fn untold(body: &str) -> Told {
    let kind = "without an error object".to_owned();
    let message = if is_page(body.as_bytes()) {
        let title = between(body, "<title>", "</title>").unwrap_or("untitled").trim();
        format!("a web page ({})", windlass_core::cut::text(title, SHOWN_CHARS))
    } else if body.trim().is_empty() {
        "nothing".to_owned()
    } else {
        format!("this text: {}", windlass_core::cut::text(body.trim(), SHOWN_CHARS))
    };
    Told { kind, message, status: None }
}

/// Whether a text is a web page.
pub(crate) fn is_page(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    let begins =
        |word: &[u8]| body.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    begins(b"<!doctype") || begins(b"<html")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

fn wait_ms(headers: &HeaderMap, now: Millis) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let precise = text("retry-after-ms").and_then(|ms| ms.trim().parse().ok());
    precise.or_else(|| text("retry-after").and_then(|after| retry_after::wait_ms(after, now)))
}

fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "; the server is elsewhere: set the base URL to where it points",
        401 => "; check the API key",
        402 => "; check the account's balance",
        403 => "; check what the API key may do",
        404 => "; check the model's name and the base URL",
        405 | 501 => "; check the base URL",
        _ => "",
    }
}
