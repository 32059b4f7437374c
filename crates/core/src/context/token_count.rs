//! Counts the tokens of a text with `cl100k_base`, as an approximation of the provider's tokeniser.
//! Used before a provider has counted anything, and only where the number of bytes does not decide.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// Bytes of text that are counted; the rest is assumed to be text of the same kind.
const MAX_COUNTED_BYTES: usize = 256 << 10;

/// Bytes that are counted in one piece. It bounds the cost of the pattern that splits words; each
/// seam adds one token at most.
const PIECE_BYTES: usize = 4 << 10;

/// The tokeniser, loaded when it is first needed: reading the table takes longer than starting the
/// program.
static ENCODER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::cl100k_base().ok());

/// Returns the tokens of these texts together; nothing if the table cannot be read, which a test
/// rules out.
pub(crate) fn count_tokens<'a>(texts: impl Iterator<Item = &'a str>) -> Option<u64> {
    let encoder = ENCODER.as_ref()?;
    let (mut counted, mut bytes, mut tokens) = (0_usize, 0_u64, 0_u64);
    for text in texts {
        bytes = bytes.saturating_add(text.len() as u64);
        let text = prefix_of(text, MAX_COUNTED_BYTES.saturating_sub(counted));
        counted += text.len();
        tokens = tokens.saturating_add(count_text(encoder, text));
    }
    // The rest that was not counted is assumed to have the same number of tokens per byte.
    let scaled = u128::from(tokens) * u128::from(bytes) / (counted as u128).max(1);
    Some(u64::try_from(scaled).unwrap_or(u64::MAX))
}

fn count_text(encoder: &CoreBPE, text: &str) -> u64 {
    let (mut rest, mut tokens) = (text, 0_u64);
    while !rest.is_empty() {
        let chunk = prefix_of(rest, PIECE_BYTES);
        tokens = tokens.saturating_add(encoder.count_ordinary(chunk) as u64);
        rest = rest.get(chunk.len()..).unwrap_or_default();
    }
    tokens
}

/// Returns the text up to so many bytes, to the end of a character.
fn prefix_of(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
