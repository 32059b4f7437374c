use super::event_decoder::{EventDecoder, EventTooLong, ServerEvent};

fn decode(text: &str, chunk: usize) -> Vec<ServerEvent> {
    let mut decoder = EventDecoder::new(1_000);
    let pieces = text.as_bytes().chunks(chunk);
    pieces.flat_map(|piece| decoder.push(piece).unwrap()).collect()
}

#[test]
fn events_are_the_same_however_the_bytes_were_split() {
    let text = "\u{feff}id: 1\nretry: 500\ndata:\n\n: comment\r\ndata: a\r\ndata: b\r\n\r\nid:2\rdata:c\r\r";
    let whole = decode(text, text.len());
    assert_eq!(whole.len(), 3);
    assert_eq!((whole[0].id.as_deref(), whole[0].retry_ms), (Some("1"), Some(500)));
    assert_eq!((whole[1].data.as_str(), whole[2].data.as_str()), ("a\nb", "c"));
    for chunk in 1..10 {
        assert_eq!(decode(text, chunk), whole, "{chunk}");
    }
}

#[test]
fn an_event_that_never_ends_is_refused() {
    let mut decoder = EventDecoder::new(100);
    assert_eq!(decoder.push(&[b'x'; 200]), Err(EventTooLong));
    assert_eq!(EventDecoder::new(100).push("data: x\n".repeat(100).as_bytes()), Err(EventTooLong));
}
