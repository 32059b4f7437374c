//! Suggests a known name for a misspelled one (Levenshtein distance).

/// Maximum number of edits between a name and its suggestion.
const MAX_EDITS: usize = 2;

/// Returns the known name that `name` differs from by at most two edits or by its case, but not
/// `name` itself.
#[must_use]
pub fn nearest_name<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let folded = name.to_lowercase();
    let near = known.into_iter().filter(|known| *known != name).filter_map(|known| {
        let edits = edit_distance(&folded, &known.to_lowercase());
        // Two edits make any two names of two letters equal.
        (edits <= MAX_EDITS && edits < known.chars().count()).then_some((edits, known))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}

/// Returns the Levenshtein distance: characters to insert, remove or replace. Names that differ a
/// lot in length are not compared.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    if one.chars().count().abs_diff(other.len()) > MAX_EDITS {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (done, here) in one.chars().enumerate() {
        let mut next = vec![done + 1];
        let mut left = done + 1;
        for (pair, there) in row.windows(2).zip(&other) {
            let [diagonal, above] = pair else { continue };
            let replaced = diagonal + usize::from(here != *there);
            left = replaced.min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
