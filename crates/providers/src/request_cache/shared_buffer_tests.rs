use bytes::Bytes;
use proptest::prelude::*;

use crate::request_cache::shared_buffer::SharedBuffer;

fn range_text(rope: &SharedBuffer, start: usize, end: usize) -> Vec<u8> {
    let mut out = Vec::new();
    rope.append_range(start, end, &mut out);
    out.concat()
}

#[test]
fn many_pieces_become_few() {
    let mut rope = SharedBuffer::default();
    (0..10_000).for_each(|_| rope.push(Bytes::from_static(&[b'x'; 700])));
    let mut out = Vec::new();
    rope.append_range(0, rope.len(), &mut out);
    assert!(out.len() < 30, "{} pieces", out.len());
}

proptest! {
    #[test]
    fn it_is_the_bytes_it_was_given(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..40),
        cut in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
    ) {
        let mut rope = SharedBuffer::default();
        pieces.iter().for_each(|chunk| rope.push(Bytes::from(chunk.clone())));
        let whole = pieces.concat();
        prop_assert_eq!(range_text(&rope, 0, whole.len()), whole.clone());
        let cut = cut.index(whole.len() + 1);
        let from = from.index(cut + 1);
        prop_assert_eq!(range_text(&rope, from, cut), &whole[from..cut]);
        rope.truncate(cut);
        prop_assert_eq!(rope.len(), cut);
        rope.push(Bytes::from_static(b"new"));
        prop_assert_eq!(range_text(&rope, 0, cut + 3), [&whole[..cut], b"new"].concat());
    }
}
