//! A small HTTP client that sends exactly what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// How long a test waits for bytes, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl HttpResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of the problem that the response describes.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{self:?}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{self:?}");
        problem["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(named).map(|(_, value)| value.as_str())
    }
}

/// Connects to `HOST:PORT`.
pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends these bytes and reads one response.
pub(crate) fn send_raw(address: &str, request: &[u8]) -> HttpResponse {
    let mut stream = connect(address);
    // A server that refuses a request early may close before all of it was sent.
    let _ = stream.write_all(request);
    read_response(&mut BufReader::new(stream))
}

/// Reads the head of a response.
pub(crate) fn read_head(reader: &mut impl BufRead) -> HttpResponse {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no response: {line:?}"));
    let status = status.parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    HttpResponse { status, headers, body: String::new() }
}

/// Reads a response with its body.
pub(crate) fn read_response(reader: &mut impl BufRead) -> HttpResponse {
    let mut response = read_head(reader);
    if response.status == 204 {
        return response;
    }
    let length = response.header("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or_else(|| panic!("no length: {response:?}"))];
    reader.read_exact(&mut body).unwrap();
    response.body = String::from_utf8(body).unwrap();
    response
}

/// Reads what a server sends until it closes the connection.
pub(crate) fn read_to_close(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset closes a connection, too.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
