//! A reader of server-sent events.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::http_client::{connect, read_head};
use crate::server_process::ServerProcess;

/// An open stream of events.
pub(crate) struct EventStream {
    reader: BufReader<TcpStream>,
    /// Bytes of the body that were read and not parsed.
    rest: String,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl EventStream {
    /// Opens a stream; `after` is the id of the last event that was seen.
    pub(crate) fn open(server: &ServerProcess, path: &str, after: Option<&str>) -> Self {
        let headers: Vec<(&str, &str)> =
            after.map(|id| ("last-event-id", id)).into_iter().collect();
        let mut stream = connect(&server.address);
        let head = server.head_with("GET", path, &headers);
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let head = read_head(&mut reader);
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        Self { reader, rest: String::new() }
    }

    /// Waits for the next event; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.rest.split_once("\n\n") {
                let event = parse_event(block);
                self.rest = rest.to_owned();
                if event.is_some() {
                    return event;
                }
                continue;
            }
            let chunk = self.read_chunk()?;
            self.rest.push_str(&chunk);
        }
    }

    /// Reads the rest of the stream.
    pub(crate) fn rest(mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Reads a chunk of the body; `None` at its end, or if the server has died.
    fn read_chunk(&mut self) -> Option<String> {
        let mut line = String::new();
        self.reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim_end(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).unwrap())
    }
}

fn parse_event(block: &str) -> Option<Event> {
    let field = |name: &str| {
        let mut lines =
            block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let first = lines.next();
        assert_eq!(lines.next(), None, "{name} is given twice: {block}");
        first
    };
    let (name, data) = (field("event")?.to_owned(), field("data")?);
    Some(Event {
        id: field("id").map(str::to_owned),
        name,
        data: serde_json::from_str(data).unwrap(),
    })
}

/// The texts of the replies among events.
pub(crate) fn reply_texts(events: &[Event]) -> Vec<String> {
    let texts = events.iter().filter(|event| event.data["type"] == "assistant");
    let text =
        |event: &Event| event.data["message"]["content"][0]["text"].as_str().map(str::to_owned);
    texts.filter_map(text).collect()
}
