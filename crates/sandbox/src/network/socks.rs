//! SOCKS version 5 (RFC 1928), without authentication: connections only.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(super) const VERSION: u8 = 5;
pub(super) const SUCCEEDED: u8 = 0;
pub(super) const NOT_ALLOWED: u8 = 2;
pub(super) const UNREACHABLE: u8 = 4;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const NO_AUTHENTICATION: u8 = 0;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;

/// Returns the reply with this code; the address in it has no meaning here.
pub(super) fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// Reads where a connection leads; `None` if it was refused.
pub(super) async fn read_target(client: &mut TcpStream) -> io::Result<Option<(String, u16)>> {
    let [_, count] = read_array(client).await?;
    let mut methods = vec![0; count.into()];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        client.write_all(&[VERSION, NO_ACCEPTABLE_METHOD]).await?;
        return Ok(None);
    }
    client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    let [version, command, _, kind] = read_array(client).await?;
    let host = match kind {
        1 => Ipv4Addr::from(read_array::<4>(client).await?).to_string(),
        4 => Ipv6Addr::from(read_array::<16>(client).await?).to_string(),
        3 => {
            let [length] = read_array(client).await?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name).await?;
            // What is no name is refused with its bytes escaped.
            String::from_utf8_lossy(&name).into_owned()
        }
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    let port = u16::from_be_bytes(read_array(client).await?);
    if (version, command) != (VERSION, 1) {
        client.write_all(&reply(COMMAND_NOT_SUPPORTED)).await?;
        return Ok(None);
    }
    Ok(Some((host, port)))
}

async fn read_array<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}
