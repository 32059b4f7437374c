//! SHA-256 hashes as hexadecimal text.

/// A SHA-256 hash.
pub(crate) type Sha256Hash = [u8; 32];

pub(crate) fn to_hex(hash: &Sha256Hash) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    hash.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Parses a hash that `to_hex` wrote.
pub(crate) fn from_hex(text: &str) -> Option<Sha256Hash> {
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect();
    bytes?.try_into().ok()
}
