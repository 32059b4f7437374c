//! Suggests a known name for a misspelled one (Levenshtein distance).

/// Maximum number of edits between a name and its suggestion.
const MAX_EDITS: usize = 2;

/// Returns the known name that `name` differs from by at most two edits or by its case, but not
/// `name` itself.
#[must_use]
pub fn nearest_name<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let folded = name.to_lowercase();
    let near = known.into_iter().filter(|known| *known != name).filter_map(|known| {
        let edits = strsim::levenshtein(&folded, &known.to_lowercase());
        // Two edits make any two names of two letters equal.
        (edits <= MAX_EDITS && edits < known.chars().count()).then_some((edits, known))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, known)| known)
}
