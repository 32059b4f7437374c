//! Keys, and texts without them.
//!
//! A [`Secret`] shows itself nowhere. A [`Redactor`] takes the values it was given out of a text,
//! in every form in which they travel, and whatever looks like a key although nobody registered
//! it, as the core knows them. Not here: the model's transcript, which must stay exact.

use std::borrow::Cow;

use std::sync::Arc;

use windlass_core::redact::{REDACTED, without_secrets};

use crate::base64;

/// Shorter values are no secrets, and taking them out would make texts unreadable.
const SHORTEST_SECRET: usize = 8;

/// A value that does not show itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Keeps a value. Space around it is not part of it: keys are pasted.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(Arc::from(value.trim()))
    }

    /// The value, for the header it belongs into.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
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

/// Takes secrets out of texts.
#[derive(Clone, Default)]
pub struct Redactor {
    forms: Vec<String>,
}

impl Redactor {
    /// A redactor that knows these secrets.
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let long = |secret: &&Secret| secret.expose().len() >= SHORTEST_SECRET;
        let secrets = secrets.into_iter().filter(long);
        let mut forms: Vec<String> = secrets.flat_map(|secret| forms_of(secret.expose())).collect();
        // A longer form may hold a shorter one.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { forms }
    }

    /// The text without them, and without whatever else looks like a secret.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        without_secrets(&self.without_known(text)).into_owned()
    }

    /// The text without the secrets that are known.
    pub(crate) fn without_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
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

/// The value as it is, in JSON, in an address, in hex and in base64.
fn forms_of(value: &str) -> Vec<String> {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.trim_matches('"').to_owned();
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let upper = hex.to_uppercase();
    // In a longer text base64 may begin at any of three places.
    let bases =
        (0..3).map(|skip| base64::whole_groups(value.as_bytes().get(skip..).unwrap_or_default()));
    let bases = bases.filter(|form| form.len() >= SHORTEST_SECRET);
    [value.to_owned(), json, url(value), hex, upper].into_iter().chain(bases).collect()
}

fn url(value: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    value
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
