//! API keys, and redaction of texts.
//!
//! A [`Secret`] never shows its value. A [`Redactor`] removes the values it was given from a text,
//! in every encoding in which they are sent, and anything else that looks like a key, as the core
//! defines it. Not here: the model's transcript, which must stay exact.

use std::borrow::Cow;

use std::sync::Arc;

use windlass_core::log::redact::{REDACTED, without_secrets};

use crate::base64;

/// The length below which a value is not a secret: removing it would make texts unreadable.
const MIN_SECRET_BYTES: usize = 8;

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
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let upper = hex.to_uppercase();
    // In a longer text the base64 form may begin at any of three offsets.
    let bases =
        (0..3).map(|skip| base64::whole_groups(value.as_bytes().get(skip..).unwrap_or_default()));
    let bases = bases.filter(|form| form.len() >= MIN_SECRET_BYTES);
    [value.to_owned(), json, percent_encode(value), hex, upper].into_iter().chain(bases).collect()
}

fn percent_encode(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    value
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
