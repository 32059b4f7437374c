//! Base64 encoding.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as base64, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = whole_groups(bytes);
    let rest = bytes.chunks_exact(3).remainder();
    if !rest.is_empty() {
        let mut group = [0; 3];
        group.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        text.extend(letters(&group).into_iter().take(rest.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - rest.len()));
    }
    text
}

/// Encodes whole groups of three bytes only: the last characters depend on what follows the bytes.
pub(crate) fn whole_groups(bytes: &[u8]) -> String {
    bytes.chunks_exact(3).flat_map(letters).collect()
}

fn letters(group: &[u8]) -> [char; 4] {
    let letter = |bits: u32| ALPHABET.get((bits & 63) as usize).copied().map_or('=', char::from);
    let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
    [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)]
}
