//! Tokens of a text by `cl100k_base`, as a stand-in for whatever the provider counts with. Used
//! before a provider has counted anything, and only where the number of bytes does not decide.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// Bytes of text that are counted; the rest is taken for text of the same kind.
const COUNTED_BYTES: usize = 256 << 10;

/// Bytes that are counted in one piece. It bounds what the pattern that splits words can cost; each
/// seam adds a token at most.
const PIECE_BYTES: usize = 4 << 10;

/// Loaded when it is first needed: reading the table takes longer than starting the program.
static ENCODER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::cl100k_base().ok());

/// Tokens of these texts together; nothing if the table cannot be read, which a test rules out.
pub(crate) fn count<'a>(texts: impl Iterator<Item = &'a str>) -> Option<u64> {
    let encoder = ENCODER.as_ref()?;
    let (mut counted, mut bytes, mut tokens) = (0_usize, 0_u64, 0_u64);
    for text in texts {
        bytes = bytes.saturating_add(text.len() as u64);
        let text = beginning(text, COUNTED_BYTES.saturating_sub(counted));
        counted += text.len();
        tokens = tokens.saturating_add(count_text(encoder, text));
    }
    // What was not counted has as many tokens to its bytes.
    let scaled = u128::from(tokens) * u128::from(bytes) / (counted as u128).max(1);
    Some(u64::try_from(scaled).unwrap_or(u64::MAX))
}

fn count_text(encoder: &CoreBPE, text: &str) -> u64 {
    let (mut rest, mut tokens) = (text, 0_u64);
    while !rest.is_empty() {
        let piece = beginning(rest, PIECE_BYTES);
        tokens = tokens.saturating_add(encoder.count_ordinary(piece) as u64);
        rest = rest.get(piece.len()..).unwrap_or_default();
    }
    tokens
}

/// The text up to so many bytes, to the end of a character.
fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}
