//! The configuration of a server, as `.mcp.json` and other agents' files have it.

use serde_json::{Map, Value, json};

/// Number of characters of a name.
const MAX_NAME_CHARS: usize = 64;

/// The configuration of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServerConfig {
    /// How the server is reached.
    pub transport: TransportConfig,
    /// How long a call may be silent, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportConfig {
    /// A program that talks over standard input and output.
    Stdio {
        /// The program: a path, or a name that is searched for in `PATH`.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables beside those that every command gets.
        variables: Vec<(String, String)>,
        /// The folder that it works in, instead of the workspace.
        folder: Option<String>,
    },
    /// A server over streamable HTTP.
    Http {
        /// Its URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
        /// A command that prints further headers as a JSON object.
        headers_helper: Option<String>,
        /// How to log in.
        oauth: OAuthConfig,
    },
    /// A server inside the program that drives this process.
    Sdk,
}

/// What is known about the login to a server beforehand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthConfig {
    /// The id of a client that is registered already.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<String>,
    /// The port of the loopback address that the browser returns to; any free one by default.
    pub callback_port: Option<u16>,
    /// The URL of the metadata of the authorization server, if it is not discovered.
    pub metadata_url: Option<String>,
    /// The scopes to ask for.
    pub scopes: Option<String>,
    /// The URL of a document that describes this client.
    pub client_metadata_url: Option<String>,
    /// Whether the client acts for itself, without a person (client credentials).
    pub is_client_credentials: bool,
    /// The private key with which the client proves who it is, as PEM.
    pub private_key: Option<String>,
}

/// Why a configuration is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidServerConfig(String);

fn invalid(text: impl Into<String>) -> InvalidServerConfig {
    InvalidServerConfig(text.into())
}

impl McpServerConfig {
    /// Describes a program that talks over standard input and output.
    #[must_use]
    pub fn stdio(command: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (variables, folder) = (Vec::new(), None);
        let command = command.to_owned();
        let transport = TransportConfig::Stdio { command, arguments, variables, folder };
        Self { transport, timeout_ms: None }
    }

    /// Describes a server over streamable HTTP.
    #[must_use]
    pub fn http(url: &str) -> Self {
        let (url, headers, headers_helper) = (url.to_owned(), Vec::new(), None);
        let oauth = OAuthConfig::default();
        let transport = TransportConfig::Http { url, headers, headers_helper, oauth };
        Self { transport, timeout_ms: None }
    }

    /// Adds an environment variable of the program, or a header of every request.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let pair = (name.to_owned(), value.to_owned());
        match &mut self.transport {
            TransportConfig::Stdio { variables, .. } => variables.push(pair),
            TransportConfig::Http { headers, .. } => headers.push(pair),
            TransportConfig::Sdk => {}
        }
        self
    }

    /// Reads one server of a configuration file. `${NAME}` and `${NAME:-default}` are replaced by
    /// variables.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidServerConfig`] if the server cannot be used, and says what to do.
    pub fn from_json(
        value: &Value,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, InvalidServerConfig> {
        let table = value.as_object().ok_or_else(|| invalid("it is not a JSON object"))?;
        let fields = Fields { table, variable };
        let kind = match table.get("type") {
            None if table.contains_key("url") => "http",
            None => "stdio",
            Some(kind) => kind.as_str().ok_or_else(|| invalid("`type` is not a text"))?,
        };
        let transport = match kind {
            "stdio" => fields.stdio()?,
            "http" | "streamable-http" | "streamableHttp" => fields.http()?,
            "sdk" => TransportConfig::Sdk,
            "sse" => {
                return Err(invalid(
                    "the SSE transport was replaced in MCP and is not supported; use `\"type\": \"http\"` \
                     with the server's streamable HTTP address, often ending in /mcp",
                ));
            }
            other => {
                return Err(invalid(format!("unknown type `{other}`; use stdio or http")));
            }
        };
        let timeout_ms = match table.get("timeout") {
            None => None,
            Some(ms) => Some(
                ms.as_u64()
                    .filter(|ms| *ms > 0)
                    .ok_or_else(|| invalid("`timeout` is not a number of milliseconds above 0"))?,
            ),
        };
        Ok(Self { transport, timeout_ms })
    }

    /// Returns the configuration without secrets: names of variables and headers stay, values go.
    #[must_use]
    pub fn to_public_json(&self) -> Value {
        match &self.transport {
            TransportConfig::Stdio { command, arguments, .. } => {
                json!({"type": "stdio", "command": command, "args": arguments})
            }
            TransportConfig::Http { url, .. } => {
                json!({"type": "http", "url": url.split('?').next().unwrap_or_default()})
            }
            TransportConfig::Sdk => json!({"type": "sdk"}),
        }
    }
}

/// Returns why a server cannot have this name.
///
/// # Errors
///
/// Returns [`InvalidServerConfig`] for a name that has no place in a tool name.
pub fn check_server_name(name: &str) -> Result<(), InvalidServerConfig> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let count = name.chars().count();
    if count == 0 || count > MAX_NAME_CHARS || !name.chars().all(is_valid) {
        return Err(invalid(format!(
            "a name has 1 to {MAX_NAME_CHARS} letters, digits, spaces, `-`, `_` and `.`"
        )));
    }
    match name.contains("__") {
        true => {
            Err(invalid("a name has no two underscores in a row: they separate it from a tool"))
        }
        false => Ok(()),
    }
}

/// The fields of a server.
struct Fields<'a> {
    table: &'a Map<String, Value>,
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Fields<'_> {
    fn stdio(&self) -> Result<TransportConfig, InvalidServerConfig> {
        let command = self.text("command")?;
        let command = command.filter(|command| !command.is_empty());
        let command = command.ok_or_else(|| invalid("it has neither a `command` nor a `url`"))?;
        let arguments = match self.table.get("args") {
            None => Vec::new(),
            Some(list) => list
                .as_array()
                .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<_>>>())
                .ok_or_else(|| invalid("`args` is not a list of texts"))?,
        };
        let arguments = arguments
            .into_iter()
            .map(|argument| self.expand(argument))
            .collect::<Result<_, _>>()?;
        let (variables, folder) = (self.pairs("env")?, self.text("cwd")?);
        Ok(TransportConfig::Stdio { command, arguments, variables, folder })
    }

    fn http(&self) -> Result<TransportConfig, InvalidServerConfig> {
        let url = self.text("url")?.unwrap_or_default();
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(invalid("`url` does not begin with https:// or http://"));
        }
        let (headers, headers_helper) = (self.pairs("headers")?, self.text("headersHelper")?);
        let oauth = match self.table.get("oauth") {
            None | Some(Value::Null) => OAuthConfig::default(),
            Some(Value::Object(table)) => Fields { table, variable: self.variable }.oauth()?,
            Some(_) => return Err(invalid("`oauth` is not a JSON object")),
        };
        Ok(TransportConfig::Http { url, headers, headers_helper, oauth })
    }

    fn oauth(&self) -> Result<OAuthConfig, InvalidServerConfig> {
        let port = match self.table.get("callbackPort") {
            None => None,
            Some(port) => Some(
                port.as_u64()
                    .and_then(|port| u16::try_from(port).ok())
                    .ok_or_else(|| invalid("`oauth.callbackPort` is not a port"))?,
            ),
        };
        let is_client_credentials = match self.text("grantType")?.as_deref() {
            None | Some("authorization_code") => false,
            Some("client_credentials") => true,
            Some(_) => {
                return Err(invalid(
                    "`oauth.grantType` is neither authorization_code nor client_credentials",
                ));
            }
        };
        Ok(OAuthConfig {
            client_id: self.text("clientId")?,
            client_secret: self.text("clientSecret")?,
            callback_port: port,
            metadata_url: self.text("authServerMetadataUrl")?,
            scopes: self.text("scopes")?,
            client_metadata_url: self.text("clientMetadataUrl")?,
            is_client_credentials,
            private_key: self.text("privateKey")?,
        })
    }

    fn text(&self, name: &str) -> Result<Option<String>, InvalidServerConfig> {
        match self.table.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => self.expand(text).map(Some),
            Some(_) => Err(invalid(format!("`{name}` is not a text"))),
        }
    }

    fn pairs(&self, name: &str) -> Result<Vec<(String, String)>, InvalidServerConfig> {
        let table = match self.table.get(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(table)) => table,
            Some(_) => return Err(invalid(format!("`{name}` is not a JSON object"))),
        };
        let pair = |(key, value): (&String, &Value)| {
            let text =
                value.as_str().ok_or_else(|| invalid(format!("`{name}.{key}` is not a text")))?;
            Ok((key.clone(), self.expand(text)?))
        };
        table.iter().map(pair).collect()
    }

    /// Replaces `${NAME}` and `${NAME:-default}`. A variable that is not set is an error: an empty
    /// text in its place would mean something else.
    fn expand(&self, text: &str) -> Result<String, InvalidServerConfig> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((inside, behind)) = after.split_once('}') else {
                return Err(invalid(format!("`{text}` has `${{` without `}}`")));
            };
            let (name, default) = match inside.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inside, None),
            };
            let value = (self.variable)(name).or_else(|| default.map(str::to_owned));
            expanded.push_str(&value.ok_or_else(|| {
                invalid(format!(
                    "the variable {name} is not set; set it or write ${{{name}:-default}}"
                ))
            })?);
            rest = behind;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}
