//! Parses the store URL: the server, the connection options, and a name to show without password.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use windlass_runtime::ports::StoreError;

use crate::validation::invalid_argument;

/// How long connecting to the server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Default number of connections for everything but appends and heartbeats; `?connections=`
/// overrides it.
const DEFAULT_CONNECTIONS: usize = 4;
const MAX_CONNECTIONS: usize = 64;

/// A server address, as the URL describes it.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    pub(super) config: Config,
    pub(super) trust: CertificateTrust,
    pub(super) statements: StatementMode,
    pub(super) connections: usize,
    /// The URL without its password.
    pub(super) location: String,
}

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificateTrust {
    /// Any certificate, which is the common meaning of `sslmode=prefer` and `require`.
    AnyCertificate,
    /// Certificates for the server's name that the system roots sign.
    SystemRoots,
    /// Certificates for the server's name that the roots in this file sign.
    RootsFile(PathBuf),
}

/// Whether statements are prepared on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementMode {
    /// Statements are prepared, if no pooler turns out to share the connections.
    Prepared,
    /// Statements are not prepared: a pooler (PgBouncer in transaction mode) assigns transactions
    /// to any connection.
    Unprepared,
}

impl ServerAddress {
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut ours = UrlOptions::default();
        let mut theirs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if !ours.apply_option(pair)? {
                theirs.push(pair);
            }
        }
        let text =
            if theirs.is_empty() { base.into() } else { [base, &theirs.join("&")].join("?") };
        let mut config = Config::from_str(&text).map_err(|error| invalid_address(&error))?;
        if config.get_hosts().is_empty() {
            return Err(invalid_address(&"it has no host"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        // A password in a URL is visible in the process list.
        if config.get_password().is_none()
            && let Some(password) = std::env::var_os("PGPASSWORD").filter(|it| !it.is_empty())
        {
            config.password(password.as_encoded_bytes());
        }
        config.ssl_mode(ours.encryption()?).application_name("windlass");
        let location = location_without_password(&config);
        let UrlOptions { trust, statements, connections, .. } = ours;
        Ok(Self { config, trust, statements, connections, location })
    }
}

/// Returns whether the text is the address of a server rather than a file name.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Options of the URL that the driver does not know.
struct UrlOptions {
    mode: Option<SslMode>,
    trust: CertificateTrust,
    statements: StatementMode,
    connections: usize,
}

impl Default for UrlOptions {
    fn default() -> Self {
        Self {
            mode: None,
            trust: CertificateTrust::AnyCertificate,
            statements: StatementMode::Prepared,
            connections: DEFAULT_CONNECTIONS,
        }
    }
}

impl UrlOptions {
    /// Applies an option; returns whether it was one of ours.
    fn apply_option(&mut self, pair: &str) -> Result<bool, StoreError> {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match name {
            "sslmode" => self.set_ssl_mode(value)?,
            "sslrootcert" => self.trust = CertificateTrust::RootsFile(PathBuf::from(value)),
            "prepared" => self.statements = parse_prepared(value)?,
            "connections" => self.connections = parse_connections(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_ssl_mode(&mut self, mode: &str) -> Result<(), StoreError> {
        let encryption = match mode {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            other => {
                let known = "disable, allow, prefer, require, verify-ca or verify-full";
                return Err(invalid_address(&format!(
                    "sslmode={other} is not valid; use one of {known}"
                )));
            }
        };
        self.mode = Some(encryption);
        if mode.starts_with("verify") && self.trust == CertificateTrust::AnyCertificate {
            self.trust = CertificateTrust::SystemRoots;
        }
        Ok(())
    }

    /// Returns whether connections are encrypted. Naming the accepted certificates implies that
    /// they are checked, which a connection that may stay unencrypted does not do.
    fn encryption(&self) -> Result<SslMode, StoreError> {
        match (&self.trust, self.mode) {
            (CertificateTrust::RootsFile(_), None) => Ok(SslMode::Require),
            (CertificateTrust::RootsFile(_), Some(SslMode::Disable | SslMode::Prefer)) => {
                Err(invalid_address(
                    &"sslrootcert has no effect without sslmode=require, verify-ca or verify-full",
                ))
            }
            (_, mode) => Ok(mode.unwrap_or(SslMode::Prefer)),
        }
    }
}

fn parse_prepared(value: &str) -> Result<StatementMode, StoreError> {
    match value {
        "on" => Ok(StatementMode::Prepared),
        "off" => Ok(StatementMode::Unprepared),
        other => Err(invalid_address(&format!("prepared={other} is not valid; use on or off"))),
    }
}

fn parse_connections(value: &str) -> Result<usize, StoreError> {
    let number = value.parse().ok().filter(|number| (1..=MAX_CONNECTIONS).contains(number));
    let says = || format!("connections={value} is not a number from 1 to {MAX_CONNECTIONS}");
    number.ok_or_else(|| invalid_address(&says()))
}

fn invalid_address(reason: &dyn std::fmt::Display) -> StoreError {
    invalid_argument(format!(
        "invalid store address ({reason}); \
         write it as postgres://user:password@host:5432/database"
    ))
}

fn location_without_password(config: &Config) -> String {
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
