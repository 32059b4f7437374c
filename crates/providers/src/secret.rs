//! API keys, and redaction of texts.
//!
//! A [`Secret`] never shows its value. A [`Redactor`] removes the values it was given from a text,
//! in every encoding in which they are sent, and anything else that looks like a key, as the core
//! defines it. Not here: the model's transcript, which must stay exact.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use windlass_core::log::redact::{REDACTED, without_secrets};

/// The length below which a value is not a secret: removing it would make texts unreadable.
const MIN_SECRET_BYTES: usize = 8;

/// What a URL cannot contain as it is: everything but the unreserved characters.
const URL_ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A value that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Keeps a value. Surrounding whitespace is removed, because keys are pasted.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(Arc::from(value.trim()))
    }

    /// Returns the value, for the header it belongs to.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether the value is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Removes secrets from texts.
#[derive(Clone, Default)]
pub struct Redactor {
    forms: Vec<String>,
}

impl Redactor {
    /// Creates a redactor for these secrets.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let long = |secret: &&Secret| secret.expose().len() >= MIN_SECRET_BYTES;
        let secrets = secrets.into_iter().filter(long);
        let mut forms: Vec<String> =
            secrets.flat_map(|secret| encoded_forms(secret.expose())).collect();
        // A longer form may contain a shorter one.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { forms }
    }

    /// Returns the text without the secrets, and without anything else that looks like a secret.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        without_secrets(&self.redact_known(text)).into_owned()
    }

    /// Returns the text without the known secrets.
    pub(crate) fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for form in &self.forms {
            if memchr::memmem::find(clean.as_bytes(), form.as_bytes()).is_some() {
                clean = Cow::Owned(clean.replace(form, REDACTED));
            }
        }
        clean
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("forms", &self.forms.len()).finish()
    }
}

/// The value as it is, in JSON, in a URL, in hex and in base64.
fn encoded_forms(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.trim_matches('"').to_owned();
    let url = utf8_percent_encode(value, URL_ESCAPED).to_string();
    // In a longer text the base64 form may begin at any of three offsets.
    let base64 = (0..3).map(|skip| base64_groups(value.as_bytes().get(skip..).unwrap_or_default()));
    let base64 = base64.filter(|form| form.len() >= MIN_SECRET_BYTES);
    let forms = [value.to_owned(), json, url, hex::encode(value), hex::encode_upper(value)];
    forms.into_iter().chain(base64).collect()
}

/// Encodes whole groups of three bytes only: the last characters depend on what follows the bytes.
fn base64_groups(bytes: &[u8]) -> String {
    let whole = bytes.len() - bytes.len() % 3;
    STANDARD_NO_PAD.encode(bytes.get(..whole).unwrap_or_default())
}
