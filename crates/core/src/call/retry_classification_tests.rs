use std::error::Error;
use std::fmt;
use std::io;

use crate::call::outcome::ToolError;

// spec: ROUNDS-15
#[test]
fn time_outs_lost_connections_429_and_5xx_are_transient_and_nothing_else() {
    use io::ErrorKind::{
        AlreadyExists, BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset,
        HostUnreachable, InvalidData, InvalidInput, NetworkDown, NetworkUnreachable, NotFound,
        Other, PermissionDenied, TimedOut, UnexpectedEof,
    };
    for kind in [
        TimedOut,
        ConnectionRefused,
        ConnectionReset,
        ConnectionAborted,
        HostUnreachable,
        NetworkUnreachable,
        NetworkDown,
    ] {
        assert!(ToolError::from_io(&kind.into(), "wait").transient, "{kind:?}");
    }
    for kind in [
        NotFound,
        PermissionDenied,
        AlreadyExists,
        InvalidData,
        InvalidInput,
        BrokenPipe,
        UnexpectedEof,
        Other,
    ] {
        assert!(!ToolError::from_io(&kind.into(), "wait").transient, "{kind:?}");
    }
    for status in 100..=999 {
        let expected = status == 429 || (500..600).contains(&status);
        let error = ToolError::from_http_status(status, "wait");
        assert_eq!((error.transient, error.recoverable), (expected, true), "{status}");
        assert_eq!(&*error.code, format!("http_{status}"));
    }
}

#[derive(Debug)]
struct Wrapped(io::Error);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lookup failed")
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

// spec: ROUNDS-15
#[test]
fn an_error_is_transient_if_its_cause_is() {
    let failed = |kind: io::ErrorKind| {
        ToolError::from_error("lookup_failed", &Wrapped(kind.into()), "wait").transient
    };
    assert!(failed(io::ErrorKind::ConnectionRefused));
    assert!(!failed(io::ErrorKind::NotFound));
    let direct = io::Error::from(io::ErrorKind::TimedOut);
    assert!(ToolError::from_error("lookup_failed", &direct, "wait").transient);
}
