//! What the URL says, taken apart: the server, how to speak with it, and how to name it to people.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use windlass_runtime::ports::StoreError;

use crate::valid::invalid;

/// How long a server may take to take up a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Connections that serve everything but appends and beats, unless `?connections=` says otherwise.
const CONNECTIONS: usize = 4;
const MOST_CONNECTIONS: usize = 64;

/// A server, as the URL describes it.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
    pub(super) statements: Statements,
    pub(super) connections: usize,
    /// The URL without its password.
    pub(super) place: String,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Whatever the server shows, as `sslmode=prefer` and `require` mean everywhere.
    Anybody,
    /// Those that the machine's roots vouch for, by name.
    Roots,
    /// Those that this file vouches for, by name.
    File(PathBuf),
}

/// Whether statements may be kept on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statements {
    /// Yes, if connections turn out to be ours alone.
    Prepared,
    /// No: somebody in between hands our transactions to any connection.
    Unprepared,
}

impl Address {
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut ours = Ours::default();
        let mut theirs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if !ours.take(pair)? {
                theirs.push(pair);
            }
        }
        let text =
            if theirs.is_empty() { base.into() } else { [base, &theirs.join("&")].join("?") };
        let mut config = Config::from_str(&text).map_err(|error| unreadable(&error))?;
        if config.get_hosts().is_empty() {
            return Err(unreadable(&"it names no host"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        // A password in an address is seen by everybody who lists processes.
        if config.get_password().is_none()
            && let Some(password) = std::env::var_os("PGPASSWORD").filter(|it| !it.is_empty())
        {
            config.password(password.as_encoded_bytes());
        }
        config.ssl_mode(ours.encryption()?).application_name("windlass");
        let place = place(&config);
        let Ours { trust, statements, connections, .. } = ours;
        Ok(Self { config, trust, statements, connections, place })
    }
}

/// Whether text is meant as the address of a server and not as the name of a file.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// What the URL says that the driver does not know.
struct Ours {
    mode: Option<SslMode>,
    trust: Trust,
    statements: Statements,
    connections: usize,
}

impl Default for Ours {
    fn default() -> Self {
        Self {
            mode: None,
            trust: Trust::Anybody,
            statements: Statements::Prepared,
            connections: CONNECTIONS,
        }
    }
}

impl Ours {
    /// Whether the pair was for us.
    fn take(&mut self, pair: &str) -> Result<bool, StoreError> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "sslmode" => self.encrypt(value)?,
            "sslrootcert" => self.trust = Trust::File(PathBuf::from(value)),
            "prepared" => self.statements = statements(value)?,
            "connections" => self.connections = connections(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn encrypt(&mut self, mode: &str) -> Result<(), StoreError> {
        let encryption = match mode {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            other => {
                let known = "disable, allow, prefer, require, verify-ca or verify-full";
                return Err(unreadable(&format!("sslmode={other} is none of {known}")));
            }
        };
        self.mode = Some(encryption);
        if mode.starts_with("verify") && self.trust == Trust::Anybody {
            self.trust = Trust::Roots;
        }
        Ok(())
    }

    /// Whether connections are encrypted. Whoever names the certificates that count means that they
    /// are checked, which a connection that may be left unencrypted does not do.
    fn encryption(&self) -> Result<SslMode, StoreError> {
        match (&self.trust, self.mode) {
            (Trust::File(_), None) => Ok(SslMode::Require),
            (Trust::File(_), Some(SslMode::Disable | SslMode::Prefer)) => Err(unreadable(
                &"sslrootcert has no effect without sslmode=require, verify-ca or verify-full",
            )),
            (_, mode) => Ok(mode.unwrap_or(SslMode::Prefer)),
        }
    }
}

fn statements(value: &str) -> Result<Statements, StoreError> {
    match value {
        "on" => Ok(Statements::Prepared),
        "off" => Ok(Statements::Unprepared),
        other => Err(unreadable(&format!("prepared={other} is neither on nor off"))),
    }
}

fn connections(value: &str) -> Result<usize, StoreError> {
    let number = value.parse().ok().filter(|number| (1..=MOST_CONNECTIONS).contains(number));
    let says = || format!("connections={value} is no number from 1 to {MOST_CONNECTIONS}");
    number.ok_or_else(|| unreadable(&says()))
}

fn unreadable(reason: &dyn std::fmt::Display) -> StoreError {
    invalid(format!(
        "the store's address cannot be read ({reason}); \
         write it as postgres://user:password@host:5432/database"
    ))
}

fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => String::new(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    let database = config.get_dbname().or(config.get_user()).unwrap_or("postgres");
    format!("postgres://{user}{host}{port}/{database}")
}
