//! Streams of events: complete, resumable on any server, and bounded.

use std::io::Write;

use serde_json::{Value, json};
use windlass_cluster::{DiskMode, PostgresCluster};

use crate::event_stream::{Event, EventStream, reply_texts};
use crate::http_client::{connect, read_head};
use crate::server_process::{ServerHome, ServerProcess, wait_until};

const STEPS: &str = "when ask 1\n  say \"one\"\n  call Read {\"file_path\": \"a.script\"}\n\
     when ask 2\n  say \"two\"\n  call Read {\"file_path\": \"b.script\"}\n\
     when any\n  say \"three: ${user}\"\n";

fn start(server: &ServerProcess, prompt: &str) -> (String, String) {
    let accepted = server.post("/v1/conversations", &json!({"prompt": prompt})).json();
    let id = |name: &str| accepted[name].as_str().unwrap().to_owned();
    (id("conversation_id"), id("run_id"))
}

fn home() -> ServerHome {
    let home = ServerHome::new(STEPS);
    std::fs::write(home.path("b.script"), "x").unwrap();
    home
}

fn ids(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.clone().unwrap()).collect()
}

#[test]
fn the_stream_of_a_run_has_its_messages_and_ends_with_it() {
    let home = home();
    let server = home.serve(&[]);
    let (conversation, run) = start(&server, "go");
    let events = EventStream::open(&server, &format!("/v1/runs/{run}/stream"), None).rest();
    assert_eq!(reply_texts(&events), ["one", "two", "three: go"]);
    let last = events.last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["state"]), ("state", &json!("completed")));
    assert_eq!((&last.data["stop_cause"], &last.data["run_id"]), (&json!("end_turn"), &json!(run)));
    let kinds: Vec<&Value> = events.iter().map(|event| &event.data["type"]).collect();
    assert!(kinds.contains(&&json!("result")) && kinds.contains(&&json!("user")), "{kinds:?}");
    // After it has ended the stream is the same, from every place.
    let path = format!("/v1/runs/{run}/stream");
    assert_eq!(EventStream::open(&server, &path, None).rest(), events);
    for (place, id) in ids(&events).iter().enumerate().take(events.len() - 1) {
        let rest = EventStream::open(&server, &path, Some(id)).rest();
        assert_eq!(rest, events[place + 1..], "after {id}");
    }
    // A reader that has everything is told not to come back.
    let mut stream = connect(&server.address);
    let seen = [("last-event-id", last.id.as_deref().unwrap())];
    write!(stream, "{}\r\n", server.head_with("GET", &path, &seen)).unwrap();
    assert_eq!(read_head(&mut std::io::BufReader::new(stream)).status, 204);
    // The list has the same messages at the same positions.
    let mut listed = Vec::new();
    let mut cursor = String::new();
    loop {
        let page =
            server.get(&format!("/v1/conversations/{conversation}/messages?limit=2{cursor}"));
        let page = page.json();
        listed.extend(page["data"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let messages: Vec<&Event> = events.iter().filter(|event| event.name == "message").collect();
    assert_eq!(listed.len(), messages.len());
    for (listed, streamed) in listed.iter().zip(messages) {
        assert_eq!(listed["position"].as_str(), streamed.id.as_deref());
        assert_eq!((&listed["message"], &listed["run_id"]), (&streamed.data, &json!(run)));
    }
}

#[test]
fn a_conversation_is_followed_from_run_to_run() {
    let home = home();
    let server = home.serve(&[]);
    let (conversation, first) = start(&server, "go");
    let path = format!("/v1/conversations/{conversation}");
    let mut stream = EventStream::open(&server, &format!("{path}/stream"), None);
    let next_end = |stream: &mut EventStream| loop {
        let event = stream.next().unwrap();
        if !event.data["stop_cause"].is_null() && event.name == "state" {
            break event;
        }
    };
    assert_eq!(next_end(&mut stream).data["run_id"], json!(first));
    let second = server.post(&format!("{path}/prompts"), &json!({"prompt": "more"})).json();
    assert_eq!(next_end(&mut stream).data["run_id"], second["run_id"]);
    // A server that stops ends its streams.
    let (ended, told) = server.stop();
    assert!(ended.success(), "{ended}: {told}");
    assert_eq!(stream.next(), None);
}

#[test]
fn pieces_of_replies_are_delivered_on_request() {
    let text = "a longer text than one piece";
    let home = ServerHome::new(&format!("when any\n  say \"{text}\"\n"));
    let server = home.serve(&[]);
    let (conversation, first) = start(&server, "go");
    EventStream::open(&server, &format!("/v1/runs/{first}/stream"), None).rest();
    let path = format!("/v1/conversations/{conversation}");
    let position = server.get(&path).json()["position"].as_str().unwrap().to_owned();
    let stream = format!("{path}/stream?partial_messages=true&after={position}");
    let mut stream = EventStream::open(&server, &stream, None);
    server.post(&format!("{path}/prompts"), &json!({"prompt": "again"}));
    let mut events = Vec::new();
    while events.last().is_none_or(|event: &Event| event.data["stop_cause"].is_null()) {
        events.push(stream.next().unwrap());
    }
    let pieces: Vec<&Event> =
        events.iter().filter(|it| it.data["type"] == "stream_event").collect();
    assert!(!pieces.is_empty() && pieces.iter().all(|piece| piece.id.is_none()), "{events:?}");
    let streamed: String =
        pieces.iter().filter_map(|piece| piece.data["event"]["delta"]["text"].as_str()).collect();
    assert_eq!((streamed.as_str(), reply_texts(&events)), (text, vec![text.to_owned()]));
}

#[test]
fn another_server_continues_a_stream_without_loss_or_repetition() {
    let home = ServerHome::new(
        "when ask 1\n  say \"one\"\n  call Read {\"file_path\": \"a.script\"}\n\
         when ask 2\n  delay 2s\n  say \"two\"\n  call Read {\"file_path\": \"b.script\"}\n\
         when any\n  say \"three\"\n",
    );
    std::fs::write(home.path("b.script"), "x").unwrap();
    let cluster = PostgresCluster::start(DiskMode::Trusted).unwrap();
    let store = cluster.url("postgres");
    let lease = ["--beat-ms", "200", "--lease-ms", "1000"];
    let first = home.serve_store(&store, &lease);
    let second = home.serve_store(&store, &lease);
    let (_, run) = start(&first, "go");
    let path = format!("/v1/runs/{run}/stream");
    let mut stream = EventStream::open(&first, &path, None);
    let mut events = Vec::new();
    while reply_texts(&events).is_empty() {
        events.push(stream.next().unwrap());
    }
    // The server is killed in the middle of the run, which it may be driving itself.
    first.kill();
    while let Some(event) = stream.next() {
        events.push(event);
    }
    let seen = events.last().unwrap().id.clone();
    events.extend(EventStream::open(&second, &path, seen.as_deref()).rest());
    assert_eq!(reply_texts(&events), ["one", "two", "three"]);
    assert_eq!(events, EventStream::open(&second, &path, None).rest());
}

// spec: FAULT-50
#[test]
fn readers_that_never_read_delay_no_one() {
    let text = "x".repeat(200_000);
    let home = ServerHome::new(&format!("when any\n  say \"{text}\"\n"));
    let server = home.serve(&[]);
    let conversation = start(&server, "first").0;
    let path = format!("/v1/conversations/{conversation}/stream?partial_messages=true");
    let mut idle: Vec<EventStream> =
        (0..100).map(|_| EventStream::open(&server, &path, None)).collect();
    let more = json!({"prompt": "next"});
    for _ in 0..5 {
        let place = format!("/v1/conversations/{conversation}/prompts");
        assert_eq!(server.post(&place, &more).status, 202);
    }
    let runs = format!("/v1/runs?conversation_id={conversation}&state=completed");
    let ended = || server.get(&runs).json()["data"].as_array().unwrap().len();
    wait_until("all runs end", || ended() == 6);
    // One that reads late gets everything that is recorded, in order.
    let mut late = EventStream::open(&server, &path, None);
    let mut slow = idle.pop().unwrap();
    for stream in [&mut late, &mut slow] {
        let mut replies = 0;
        while replies < 6 {
            let event = stream.next().unwrap();
            let is_reply = event.name == "message" && event.data["type"] == "assistant";
            replies += usize::from(is_reply && event.id.is_some());
        }
    }
}

// spec: FAULT-51
#[test]
fn a_reader_that_returns_misses_nothing_or_is_told_why() {
    let home = home();
    let server = home.serve(&[]);
    let (_, run) = start(&server, "go");
    let path = format!("/v1/runs/{run}/stream");
    let all = EventStream::open(&server, &path, None).rest();
    let recorded: Vec<Event> = all.into_iter().filter(|event| event.id.is_some()).collect();
    // From every place in between, however old, the rest follows once.
    for (nth, event) in recorded.iter().enumerate().rev().skip(1) {
        let rest = EventStream::open(&server, &path, event.id.as_deref()).rest();
        assert_eq!(ids(&rest), ids(&recorded[nth + 1..]));
    }
    for wrong in ["999999.0", "18446744073709551615.0", "x", "1.", "-1.0", "1.0.0", "\u{7f}"] {
        let refused = server.request_with("GET", &path, &[("last-event-id", wrong)], None);
        assert_eq!(refused.status, 400, "{wrong}");
    }
    let last = recorded.last().unwrap().id.clone().unwrap();
    assert_eq!(server.request_with("GET", &path, &[("last-event-id", &last)], None).status, 204);
}

#[test]
fn texts_of_others_stay_data() {
    // Attack case 79.
    let hostile = "<script>alert(1)</script>\n\nevent: state\ndata: {\"state\":\"completed\"}\n\n";
    let home = ServerHome::new("when any\n  say \"${user}\"\n");
    let server = home.serve(&[]);
    let (_, run) = start(&server, hostile);
    let events = EventStream::open(&server, &format!("/v1/runs/{run}/stream"), None).rest();
    assert_eq!(reply_texts(&events), [hostile]);
    let states = events.iter().filter(|event| event.name == "state").count();
    assert_eq!(states, 2, "running and completed: {events:?}");
    let listed = server.get("/v1/runs");
    assert_eq!(listed.header("content-type"), Some("application/json"));
    assert_eq!(listed.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn positions_and_parameters_are_checked() {
    let home = home();
    let server = home.serve(&[]);
    let (conversation, run) = start(&server, "go");
    for path in [
        format!("/v1/runs/{run}/stream?after=x"),
        format!("/v1/runs/{run}/stream?afer=1"),
        format!("/v1/conversations/{conversation}/stream?partial_messages=perhaps"),
        format!("/v1/conversations/{conversation}/messages?cursor=1.x"),
    ] {
        let refused = server.get(&path);
        assert_eq!(
            (refused.status, refused.problem().as_str()),
            (400, "invalid_request"),
            "{path}"
        );
    }
    for path in ["/v1/runs/nothing/stream", "/v1/conversations/nothing/stream"] {
        assert_eq!(server.get(path).problem(), "not_found");
    }
}

#[test]
fn readers_are_told_when_a_run_changes() {
    let home = home();
    let server = home.serve(&[]);
    let mut changes = EventStream::open(&server, "/v1/events/stream", None);
    let (_, run) = start(&server, "go");
    assert_eq!(changes.next().unwrap().name, "changed");
    let is_over = || server.get(&format!("/v1/runs/{run}")).json()["stop_cause"].is_string();
    wait_until("the run has ended", is_over);
    let timeline = server.get(&format!("/v1/runs/{run}/timeline")).json();
    assert_eq!(timeline["run"], json!(run));
    let entries = server.get(&format!("/v1/runs/{run}/entries?limit=1")).json();
    assert_eq!(
        (entries["data"][0]["seq"].as_u64(), &entries["next_cursor"]),
        (Some(1), &json!("1"))
    );
}
