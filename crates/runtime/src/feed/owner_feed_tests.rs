use windlass_core::log::record::Record;
use windlass_core::stop::StopCause;

use super::*;

fn joined_text(items: &[StreamItem]) -> String {
    let text = |item: &StreamItem| match item {
        StreamItem::TextDelta { text: piece, .. } => piece.to_string(),
        StreamItem::ThinkingDelta { text: piece, .. } => format!("({piece})"),
        _ => "|".to_owned(),
    };
    items.iter().map(text).collect()
}

fn timer_entry() -> StreamItem {
    entry_with(Vec::new())
}

fn end_entry() -> StreamItem {
    let (run, cause) = (RunId::from("run"), StopCause::EndTurn);
    entry_with(vec![Record::RunFinished {
        run,
        cause,
        other_causes: Vec::new(),
        text_override: None,
    }])
}

fn entry_with(records: Vec<Record>) -> StreamItem {
    use windlass_core::log::entry::Entry;
    use windlass_core::log::ids::UnixMillis;
    use windlass_core::log::input::Input;
    let entry = Entry { seq: 1, at: UnixMillis(0), input: Input::TimerFired {}, records };
    StreamItem::Entry(Arc::new(entry))
}

async fn read_all(mut items: OwnerFeedReceiver) -> Vec<StreamItem> {
    let mut read = Vec::new();
    while let Some(item) = items.recv().await {
        read.push(item);
    }
    read
}

#[tokio::test]
async fn a_burst_that_does_not_fit_is_read_whole_and_in_order() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    let words: String = (0..400).map(|n| format!("w{n} ")).collect();
    for word in words.split_inclusive(' ') {
        feed.send_text(1, TextKind::Answer, word);
    }
    drop(feed);
    let read = read_all(items).await;
    assert_eq!(joined_text(&read), words);
    assert!(read.len() <= OWNER_QUEUE_ITEMS + 1, "what waits is joined: {} items", read.len());
}

#[tokio::test]
async fn an_entry_comes_after_all_text_that_was_said_before_it() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    let reader = tokio::spawn(read_all(items));
    for n in 0..100 {
        feed.send_text(1, if n % 30 < 20 { TextKind::Answer } else { TextKind::Thinking }, "x");
    }
    feed.send_item(timer_entry()).await.unwrap();
    feed.send_text(2, TextKind::Answer, "y");
    drop(feed);
    let read = joined_text(&reader.await.unwrap());
    let (first, second) = read.split_once('|').unwrap();
    assert_eq!((first.matches('x').count(), second), (100, "y"), "{read}");
    assert_eq!(first.replace(['(', ')'], ""), "x".repeat(100));
}

#[tokio::test]
async fn a_reader_that_wakes_up_gets_the_rest_although_nothing_more_is_said() {
    let (feed, mut items) = OwnerFeed::new(None, StreamOptions::default());
    for _ in 0..40 {
        feed.send_text(1, TextKind::Answer, "x");
    }
    let mut read = String::new();
    while read.len() < 40 {
        let item = items.recv().await.unwrap();
        read.push_str(&joined_text(&[item]));
    }
    assert_eq!(read, "x".repeat(40));
    drop(feed);
    assert_eq!(items.recv().await, None);
}

/// A model that alternates between text and thinking with every piece leaves nothing to be joined
/// with its neighbour.
#[tokio::test]
async fn alternating_pieces_are_bounded_and_nothing_of_them_is_lost() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    let (mut answer, mut thinking) = (String::new(), String::new());
    for n in 0..5_000 {
        let (output, thought) = (format!("a{n} "), format!("t{n} "));
        feed.send_text(1, TextKind::Answer, &output);
        feed.send_text(1, TextKind::Thinking, &thought);
        answer.push_str(&output);
        thinking.push_str(&thought);
        let waiting = feed.pending.lock().len();
        assert!(waiting <= OWNER_QUEUE_ITEMS, "{waiting} pieces wait");
    }
    drop(feed);
    let read = read_all(items).await;
    assert!(read.len() <= 2 * OWNER_QUEUE_ITEMS, "{} items", read.len());
    let (mut output, mut thought) = (String::new(), String::new());
    for item in &read {
        match item {
            StreamItem::TextDelta { text, .. } => output.push_str(text),
            StreamItem::ThinkingDelta { text, .. } => thought.push_str(text),
            _ => panic!("{item:?}"),
        }
    }
    assert_eq!((output, thought), (answer, thinking));
}

/// Pieces of a reply that is retried are not joined with those of the first attempt, even where no
/// more pieces should wait.
#[tokio::test]
async fn a_full_queue_keeps_the_text_of_two_replies_apart() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    for _ in 0..100 {
        feed.send_text(1, TextKind::Answer, "a");
        feed.send_text(1, TextKind::Thinking, "b");
    }
    for _ in 0..100 {
        feed.send_text(2, TextKind::Answer, "c");
    }
    drop(feed);
    let mut of_second = String::new();
    for item in read_all(items).await {
        if let StreamItem::TextDelta { model_call: 2, text } = item {
            of_second.push_str(&text);
        } else {
            assert!(of_second.is_empty(), "{item:?} after the second reply began");
        }
    }
    assert_eq!(of_second, "c".repeat(100));
}

#[tokio::test]
async fn text_of_two_replies_is_not_joined() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    for _ in 0..OWNER_QUEUE_ITEMS {
        feed.send_text(1, TextKind::Answer, "a");
    }
    feed.send_text(1, TextKind::Answer, "b");
    feed.send_text(2, TextKind::Answer, "c");
    drop(feed);
    let asks: Vec<u32> = read_all(items)
        .await
        .iter()
        .filter_map(|item| match item {
            StreamItem::TextDelta { model_call, .. } => Some(*model_call),
            _ => None,
        })
        .collect();
    assert_eq!(asks.iter().filter(|ask| **ask == 2).count(), 1);
    assert_eq!(asks.last(), Some(&2));
}

/// Text that waits for a slow owner is joined piece by piece. Were all of it copied for each piece,
/// this would take minutes.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test measures how long it takes")]
async fn joining_what_waits_takes_time_in_proportion_to_it() {
    const PIECES: usize = 400_000;
    let started = std::time::Instant::now();
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    for n in 0..PIECES {
        let kind = if n % 2 == 0 { TextKind::Answer } else { TextKind::Thinking };
        feed.send_text(1, kind, "twenty letters, yes ");
    }
    drop(feed);
    let text = joined_text(&read_all(items).await);
    assert_eq!(text.matches("yes").count(), PIECES);
    let elapsed = started.elapsed();
    assert!(elapsed < std::time::Duration::from_secs(30), "{elapsed:?}");
}

const WITH_EVENTS: StreamOptions =
    StreamOptions { reply_events: true, call_progress: false, call_summaries: false };

fn delta_event(index: u64, text: &str) -> Arc<str> {
    Arc::from(format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
    ))
}

/// The text of every block, from events that must all be JSON.
fn text_of_blocks(items: &[StreamItem]) -> std::collections::BTreeMap<u64, String> {
    let mut blocks = std::collections::BTreeMap::<u64, String>::new();
    for item in items {
        let StreamItem::ReplyEvent { event, .. } = item else { continue };
        let event: serde_json::Value = serde_json::from_str(event).unwrap();
        if let (Some(index), Some(text)) =
            (event["index"].as_u64(), event["delta"]["text"].as_str())
        {
            blocks.entry(index).or_default().push_str(text);
        }
    }
    blocks
}

#[tokio::test]
async fn events_that_wait_are_joined_and_nothing_of_them_is_lost() {
    let (feed, items) = OwnerFeed::new(None, WITH_EVENTS);
    let (mut first, mut second) = (String::new(), String::new());
    feed.send_event(1, Arc::from(r#"{"type":"message_start"}"#));
    // Two blocks at once, as no provider does: deltas of different blocks do not depend on each
    // other.
    for n in 0..5_000 {
        let (a, b) = (format!("a{n} "), format!("b{n} "));
        feed.send_event(1, delta_event(0, &a));
        feed.send_event(1, delta_event(1, &b));
        first.push_str(&a);
        second.push_str(&b);
        let waiting = feed.pending.lock().len();
        assert!(waiting <= 2, "{waiting} events wait");
    }
    feed.send_event(1, Arc::from(r#"{"type":"message_stop"}"#));
    drop(feed);
    let read = read_all(items).await;
    assert_eq!(text_of_blocks(&read).into_values().collect::<Vec<_>>(), [first, second]);
    let stop =
        StreamItem::ReplyEvent { model_call: 1, event: Arc::from(r#"{"type":"message_stop"}"#) };
    assert_eq!(read.last(), Some(&stop));
}

#[tokio::test]
async fn an_event_that_is_not_joined_arrives_byte_for_byte() {
    let (feed, items) = OwnerFeed::new(None, WITH_EVENTS);
    let odd: Arc<str> = Arc::from(
        r#"{"index": 0, "type":"content_block_delta", "delta":{"text":"\u00e9","type":"text_delta"} }"#,
    );
    let stop: Arc<str> = Arc::from(r#"{"type":"content_block_stop","index":0   }"#);
    for _ in 0..100 {
        feed.send_event(1, Arc::clone(&odd));
        feed.send_event(1, Arc::clone(&stop));
    }
    drop(feed);
    let events: Vec<Arc<str>> = read_all(items)
        .await
        .into_iter()
        .filter_map(|item| match item {
            StreamItem::ReplyEvent { event, .. } => Some(event),
            _ => None,
        })
        .collect();
    let expected: Vec<Arc<str>> = (0..100).flat_map(|_| [odd.clone(), stop.clone()]).collect();
    assert_eq!(events, expected);
}

#[tokio::test]
async fn events_of_two_replies_are_not_joined() {
    let (feed, items) = OwnerFeed::new(None, WITH_EVENTS);
    for model_call in [1, 2] {
        for _ in 0..50 {
            feed.send_event(model_call, delta_event(0, "x"));
        }
    }
    drop(feed);
    let read = read_all(items).await;
    for call in [1, 2] {
        let of_call = |item: &&StreamItem| matches!(item, StreamItem::ReplyEvent { model_call, .. } if *model_call == call);
        let items: Vec<StreamItem> = read.iter().filter(of_call).cloned().collect();
        assert_eq!(text_of_blocks(&items)[&0], "x".repeat(50), "call {call}");
    }
}

/// A reader that waits for the end is woken by what tells of it and by nothing else.
#[tokio::test]
async fn only_the_end_reaches_an_owner_that_waits_for_it() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    items.read_only_end();
    for _ in 0..1_000 {
        feed.send_text(1, TextKind::Answer, "x");
        feed.send_item(timer_entry()).await.unwrap();
    }
    feed.send_item(end_entry()).await.unwrap();
    drop(feed);
    assert_eq!(read_all(items).await, [end_entry()]);
}

#[tokio::test]
async fn an_owner_that_waited_for_the_end_and_left_is_noticed() {
    let (feed, items) = OwnerFeed::new(None, StreamOptions::default());
    items.read_only_end();
    feed.send_item(timer_entry()).await.unwrap();
    drop(items);
    assert_eq!(feed.send_item(timer_entry()).await, Err(OwnerGone));
}
