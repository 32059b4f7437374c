use proptest::prelude::*;

use crate::wire::sse::{EventTooLarge, SseDecoder};

const CAP: usize = 1_000;

type Events = (Vec<(String, String)>, Option<EventTooLarge>);

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Events {
    let mut decoder = SseDecoder::new(CAP);
    let mut events = Vec::new();
    for chunk in pieces {
        decoder.push(chunk);
        loop {
            match decoder.next_event() {
                Ok(Some(event)) => {
                    events.push((event.name.into_owned(), event.data.into_owned()));
                }
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    if let Some(event) = decoder.last_event() {
        events.push((event.name.into_owned(), event.data.into_owned()));
    }
    (events, None)
}

fn decode_in_one_piece(text: &[u8]) -> Vec<(String, String)> {
    decode([text]).0
}

fn event(name: &str, data: &str) -> (String, String) {
    (name.to_owned(), data.to_owned())
}

// spec: FAULT-47
#[test]
fn every_line_end_is_a_line_end() {
    let wanted = vec![event("a", "1"), event("", "2")];
    assert_eq!(decode_in_one_piece(b"event: a\ndata: 1\n\ndata: 2\n\n"), wanted);
    assert_eq!(decode_in_one_piece(b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n"), wanted);
    assert_eq!(decode_in_one_piece(b"event: a\rdata: 1\r\rdata: 2\r\r"), wanted);
    assert_eq!(decode_in_one_piece(b"event: a\r\ndata: 1\n\rdata: 2\r\n\r"), wanted);
}

#[test]
fn lines_of_data_are_joined_and_one_space_is_dropped() {
    assert_eq!(
        decode_in_one_piece(b"data: a\ndata:  b\ndata:c\ndata\n\n"),
        [event("", "a\n b\nc\n")]
    );
}

// spec: FAULT-47
#[test]
fn a_mark_comments_ids_and_unknown_fields_say_nothing() {
    let text = b"\xef\xbb\xbf: hello\nid: \0\nretry: x\nnonsense\ndata: a\n\n:\n:\n\nevent: b\n\n";
    assert_eq!(decode_in_one_piece(text), [event("", "a")]);
}

#[test]
fn a_name_without_data_does_not_stick_to_the_next_event() {
    assert_eq!(decode_in_one_piece(b"event: lost\n\ndata: a\n\n"), [event("", "a")]);
}

// spec: FAULT-47
#[test]
fn a_last_event_without_its_blank_line_counts_and_a_torn_line_does_not() {
    assert_eq!(decode_in_one_piece(b"data: a\n"), [event("", "a")]);
    assert_eq!(decode_in_one_piece(b"data: a\ndata: torn"), [event("", "a")]);
    assert_eq!(decode_in_one_piece(b"data: torn"), []);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(decode_in_one_piece(b"data: \xff\n\n"), [event("", "\u{fffd}")]);
}

#[test]
fn a_large_event_is_an_error_after_the_events_before_it() {
    let mut text = b"data: a\n\ndata: ".to_vec();
    text.extend(std::iter::repeat_n(b'x', CAP + 1));
    let (events, error) = decode([text.as_slice()]);
    assert_eq!(events, [event("", "a")]);
    assert_eq!(error, Some(EventTooLarge { cap_bytes: CAP }));
}

#[test]
fn many_small_lines_of_one_event_are_too_large_as_well() {
    let text = b"data: 123456789\n".repeat(200);
    assert!(decode([text.as_slice()]).1.is_some());
}

// spec: FAULT-47
#[test]
fn a_flood_of_comments_needs_no_memory() {
    let mut decoder = SseDecoder::new(CAP);
    for _ in 0..10_000 {
        decoder.push(b": still here\n\n");
        assert_eq!(decoder.next_event(), Ok(None));
    }
    assert!(decoder.buffer_bytes() < 1_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_split_gives_the_same_events(
        text in prop::collection::vec(
            prop_oneof![
                Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b"\r\n".to_vec()),
                Just(b"data: ".to_vec()), Just(b"event:".to_vec()), Just(b":".to_vec()),
                Just("é😀".as_bytes().to_vec()), Just(b"\xef\xbb\xbf".to_vec()),
                Just(vec![b'x'; 700]), prop::collection::vec(any::<u8>(), 0..8),
            ],
            0..40,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let text = text.concat();
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| &text[pair[0]..pair[1]]);
        let bytes = text.chunks(1);
        prop_assert_eq!(decode(pieces), decode([text.as_slice()]));
        prop_assert_eq!(decode(bytes), decode([text.as_slice()]));
    }
}
