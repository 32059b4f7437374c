//! Replaces NUL in text columns: PostgreSQL text cannot hold it, so a row shows a symbol instead;
//! the log, which is bytes, keeps it.

use std::borrow::Cow;

const NUL_SYMBOL: &str = "\u{2400}";

pub(super) fn replace_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\0', NUL_SYMBOL)),
    }
}
