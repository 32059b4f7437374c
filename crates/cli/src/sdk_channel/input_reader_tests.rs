use std::io::{BufReader, Cursor};

use super::*;

fn reader(text: &[u8]) -> InputReader {
    let text = text.to_vec();
    InputReader::start_with(move || Cursor::new(text))
}

#[tokio::test]
async fn lines_arrive_in_order_and_empty_ones_count_for_nothing() {
    let mut input = reader(
        b"\n{\"type\":\"keep_alive\"}\n{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\r\n\n\
          {\"type\":\"control_cancel_request\",\"request_id\":\"b\"}",
    );
    for id in ["a", "b"] {
        let cancel = Incoming::Cancel { request_id: id.to_owned() };
        assert_eq!(input.next().await.unwrap(), Some(cancel));
    }
    assert_eq!(input.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_line_that_is_not_json_ends_the_input_with_an_error() {
    let mut input = reader(b"{\"type\":\"user\"\n{\"type\":\"keep_alive\"}\n");
    let error = input.next().await.unwrap_err().to_string();
    assert!(error.contains("not JSON") && error.contains(r#"`{"type":"user"`"#), "{error}");
    assert!(matches!(input.next().await, Ok(None)));
}

#[tokio::test]
async fn a_half_written_last_line_is_an_error() {
    let mut input = reader(b"{\"type\":\"keep_alive\"}\n{\"type\":\"us");
    assert!(matches!(input.next().await, Err(InputError::Invalid(_))));
}

#[test]
fn a_line_without_end_is_read_up_to_the_limit_only() {
    let mut endless = BufReader::new(io::repeat(b'x'));
    assert!(matches!(read_line(&mut endless), Err(InputError::TooLong)));
}
