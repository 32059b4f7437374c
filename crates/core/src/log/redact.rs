//! Removes secrets from text: key prefixes, named secrets, passwords in URLs, private keys.
//!
//! Used for everything that is kept for people: rows, events, raw responses, errors. Not for the
//! transcript, which must be sent back to the model byte for byte, and so not for the log.

use std::borrow::Cow;
use std::ops::Range;

use crate::message::raw_json::RawJson;

/// Replacement of a secret.
pub const REDACTED: &str = "[redacted]";

/// Prefixes of well-known keys, and how many more characters a key has at least.
const KEY_PREFIXES: &[(&str, usize)] = &[
    ("sk-", 12),
    ("gsk_", 12),
    ("xai-", 12),
    ("AIza", 12),
    ("hf_", 12),
    ("ghp_", 12),
    ("gho_", 12),
    ("ghu_", 12),
    ("ghs_", 12),
    ("ghr_", 12),
    ("github_pat_", 12),
    ("glpat-", 12),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("eyJ", 20),
    ("Bearer ", 12),
    ("bearer ", 12),
];

/// Names of secrets; also as the last part of a longer name (`DB_PASSWORD`).
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api_key",
    "apikey",
    "access_key",
    "secret_key",
    "private_key",
    "token",
    "credential",
    "credentials",
    AUTHORIZATION,
    "cookie",
];

/// The authorization header: its value consists of several words, and all of it is removed.
const AUTHORIZATION: &str = "authorization";

/// Where private keys start and end.
const PEM_MARKERS: (&str, &str) = ("PRIVATE KEY-----", "-----END ");

/// Characters around names and values.
const QUOTES: [char; 4] = [' ', '"', '\'', '\\'];

/// Returns the text without secrets.
#[must_use]
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let mut found: Vec<Range<usize>> = find_key_prefixes(text).collect();
    found.extend(find_named_secrets(text));
    found.extend(find_url_passwords(text));
    found.extend(find_private_keys(text));
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|span| span.start);
    Cow::Owned(replace_spans(text, &found))
}

/// Returns the JSON value without secrets; it stays valid JSON.
#[must_use]
pub fn json_without_secrets(raw: &RawJson) -> RawJson {
    match without_secrets(raw.text()) {
        Cow::Borrowed(_) => raw.clone(),
        Cow::Owned(clean) => {
            RawJson::parse(clean.as_str()).unwrap_or_else(|_| RawJson::string(&clean))
        }
    }
}

/// Replaces the spans in the text. Spans may overlap.
fn replace_spans(text: &str, spans: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut upto = 0;
    for span in spans.iter().filter(|span| !span.is_empty()) {
        if let Some(before) = text.get(upto..span.start) {
            clean.push_str(before);
            clean.push_str(REDACTED);
        }
        upto = upto.max(span.end);
    }
    clean.push_str(text.get(upto..).unwrap_or_default());
    clean
}

/// Finds keys by their prefix. A prefix in the middle of a word is not a key. Whole responses are
/// searched, so this goes over the text once and compares only where a word starts.
fn find_key_prefixes(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut before = b' ';
    let begins = text.bytes().enumerate().filter_map(move |(at, byte)| {
        let begins = !before.is_ascii_alphanumeric() && can_begin_key(byte);
        before = byte;
        begins.then_some(at)
    });
    begins.filter_map(|at| {
        let rest = text.get(at..)?;
        let (prefix, shortest) =
            KEY_PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix))?;
        let after = rest.get(prefix.len()..)?;
        let key = after.len() - after.trim_start_matches(is_key_char).len();
        (key >= *shortest).then_some(at..at + prefix.len() + key)
    })
}

/// Returns whether a key prefix starts with this byte.
const fn can_begin_key(byte: u8) -> bool {
    matches!(byte, b's' | b'g' | b'x' | b'A' | b'h' | b'e' | b'B' | b'b')
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+/=~".contains(c)
}

/// Finds `name = value`, `name: value` and the like, in JSON and in JSON that is a string in JSON.
fn find_named_secrets(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices([':', '=']).filter_map(move |(at, _)| {
        let before = text.get(..at)?.trim_end_matches(QUOTES);
        let name = before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
        let name = secret_name(name.into_iter().next()?)?;
        let after = text.get(at + 1..)?;
        let value = after.trim_start_matches(QUOTES);
        let from = at + 1 + after.len() - value.len();
        let ends = |c: char| match name == AUTHORIZATION {
            true => "\"'\\\r\n".contains(c),
            false => c.is_whitespace() || "\"'\\,;&}])".contains(c),
        };
        let long = value.find(ends).unwrap_or(value.len());
        is_secret(value.get(..long)?).then_some(from..from + long)
    })
}

fn secret_name(word: &str) -> Option<&'static str> {
    let same = |(one, other): (u8, u8)| match one {
        b'-' => other == b'_',
        letter => letter.eq_ignore_ascii_case(&other),
    };
    let is = |name: &&&str| match word.len().checked_sub(name.len()) {
        Some(at) => {
            let (before, end) = word.as_bytes().split_at_checked(at).unwrap_or_default();
            let is_part = before.last().is_none_or(|last| matches!(last, b'_' | b'-'));
            is_part && end.iter().copied().zip(name.bytes()).all(same)
        }
        None => false,
    };
    SECRET_NAMES.iter().find(is).copied()
}

/// Returns whether the value can be a secret. Numbers and the keywords of JSON are none, and must
/// stay JSON.
fn is_secret(value: &str) -> bool {
    let literal = matches!(value, "" | "true" | "false" | "null" | "None");
    !literal && value.parse::<f64>().is_err() && !value.starts_with(['{', '[', '<', '$'])
}

/// Finds the password in `scheme://user:password@host`.
fn find_url_passwords(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices("://").filter_map(move |(at, mark)| {
        let from = at + mark.len();
        let rest = text.get(from..)?;
        let ends = |c: char| c.is_whitespace() || "/\"'\\<>".contains(c);
        let authority = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
        let (user, _host) = authority.rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        let from = from + name.len() + 1;
        (!password.is_empty()).then_some(from..from + password.len())
    })
}

fn find_private_keys(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices(PEM_MARKERS.0).filter_map(move |(at, mark)| {
        let from = at + mark.len();
        // The end marker of a key does not start one.
        let begins = text.get(..at)?.rsplit("-----").next()?.starts_with("BEGIN ");
        let body = text.get(from..)?;
        let long = body.find(PEM_MARKERS.1).unwrap_or(body.len());
        (begins && long > 0).then_some(from..from + long)
    })
}
