//! Messages of the scripted server, for people and for the program that started it.

use std::net::SocketAddr;

use windlass::scripted::server::{ServedOutcome, ServedRequest};

/// The line with the address it listens on: a program that starts the server waits for it.
pub(crate) fn listening_line(address: SocketAddr) -> String {
    format!("listening on http://{address}")
}

/// The result of one request.
pub(crate) fn request_line(served: &ServedRequest) -> String {
    let ServedRequest { method, path, outcome, took_ms } = served;
    format!("{method} {path} {} ({took_ms} ms)", outcome_text(outcome))
}

fn outcome_text(outcome: &ServedOutcome) -> String {
    match outcome {
        ServedOutcome::Answered { status, reason } if reason.is_empty() => status.to_string(),
        ServedOutcome::Answered { status, reason } => {
            format!("{status} {}", first_visible_line(reason))
        }
        ServedOutcome::Cut => "200 cut".to_owned(),
        ServedOutcome::Failed { status } => format!("200 failed with {status}"),
        ServedOutcome::Closed => "closed without an answer".to_owned(),
        ServedOutcome::ClientLeft => "the client left".to_owned(),
    }
}

/// The first line of a text, without control characters that would move the cursor.
fn first_visible_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
