//! A tunnel to a host. A TLS handshake in it must name that host: otherwise one server that serves
//! many names would be a way to all of them.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::dialer::Dialer;

/// The size of the largest TLS record, with its header.
const MAX_RECORD_BYTES: usize = 5 + 16 * 1024;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;

/// Relays a connection until both sides have closed it.
pub(super) async fn relay(
    client: TcpStream,
    server: TcpStream,
    host: &str,
    dialer: &Dialer,
) -> io::Result<()> {
    relay_after(&[], client, server, (host, dialer)).await
}

/// Relays a connection whose client has sent `begun` already.
pub(super) async fn relay_after(
    begun: &[u8],
    client: TcpStream,
    server: TcpStream,
    (host, dialer): (&str, &Dialer),
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let up = async {
        let opening = read_opening(begun.to_vec(), &mut from_client).await?;
        if let Some(name) = server_name(&opening).filter(|name| !name.eq_ignore_ascii_case(host)) {
            dialer.note_other_host(&format!("{} in a connection to {host}", name.escape_default()));
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        to_server.write_all(&opening).await?;
        pass_on(&mut from_client, &mut to_server).await
    };
    let down = pass_on(&mut from_server, &mut to_client);
    tokio::try_join!(up, down).map(drop)
}

async fn pass_on(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    tokio::io::copy(from, to).await?;
    to.shutdown().await
}

/// Reads what the client sends first; all of it if it is a TLS record.
async fn read_opening(
    mut bytes: Vec<u8>,
    client: &mut (impl AsyncRead + Unpin),
) -> io::Result<Vec<u8>> {
    loop {
        let wanted = match bytes.as_slice() {
            [] => 1,
            [HANDSHAKE, _, _, high, low, ..] => 5 + usize::from(u16::from_be_bytes([*high, *low])),
            [HANDSHAKE, ..] => 5,
            _ => return Ok(bytes),
        };
        if bytes.len() >= wanted.min(MAX_RECORD_BYTES) || client.read_buf(&mut bytes).await? == 0 {
            return Ok(bytes);
        }
    }
}

/// Returns the host that a TLS client asks for (the extension `server_name`), if it says so.
pub(super) fn server_name(record: &[u8]) -> Option<String> {
    let mut record = Reader(record);
    if record.take(1)? != [HANDSHAKE] {
        return None;
    }
    record.take(2)?;
    let mut handshake = Reader(record.take_sized(2)?);
    if handshake.take(1)? != [CLIENT_HELLO] {
        return None;
    }
    let mut hello = Reader(handshake.take_sized(3)?);
    // Version and random bytes, session, ciphers, compression.
    hello.take(2 + 32)?;
    hello.take_sized(1)?;
    hello.take_sized(2)?;
    hello.take_sized(1)?;
    let mut extensions = Reader(hello.take_sized(2)?);
    loop {
        let kind = extensions.take(2)?;
        let mut extension = Reader(extensions.take_sized(2)?);
        if kind == [0, 0] {
            let mut names = Reader(extension.take_sized(2)?);
            names.take(1)?;
            return Some(String::from_utf8_lossy(names.take_sized(2)?).into_owned());
        }
    }
}

/// Reads parts of a message.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes a part with its length before it, in so many bytes.
    fn take_sized(&mut self, length_bytes: usize) -> Option<&'a [u8]> {
        let length = self.take(length_bytes)?;
        let length = length.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
        self.take(length)
    }
}
