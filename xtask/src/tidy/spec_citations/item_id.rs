//! The format of the id of a promise.

/// Returns whether the text is an id such as `STOP-03`: words of capitals, then a number.
pub(super) fn is_item_id(text: &str) -> bool {
    let Some((subject, number)) = text.rsplit_once('-') else {
        return false;
    };
    let capital = |c: char| c.is_ascii_uppercase();
    let in_subject = |c: char| capital(c) || c.is_ascii_digit() || c == '-';
    subject.starts_with(capital)
        && subject.chars().all(in_subject)
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}
