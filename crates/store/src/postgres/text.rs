//! Text for people. PostgreSQL's text cannot hold NUL; a row for people shows a picture of it, and
//! the log, which is bytes, keeps the thing itself.

use std::borrow::Cow;

const PICTURE: &str = "\u{2400}";

pub(super) fn shown(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\0', PICTURE)),
    }
}
