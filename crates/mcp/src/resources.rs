//! Resources that a server offers: documents with a URI.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::connection::McpError;
use crate::managed_server::ManagedServer;
use crate::paged_list::read_list;
use crate::plain_text::plain_text;
use crate::result_content::{DataFiles, resource_block};

/// Maximum number of resources of one server.
const MAX_RESOURCES: usize = 10_000;

/// Maximum length of a text about a resource, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// A resource, or a template of URIs, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceDefinition {
    /// The URI, or a template of URIs (RFC 6570).
    #[serde(alias = "uriTemplate")]
    pub uri: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it contains.
    #[serde(default)]
    pub description: String,
    /// Its media type.
    #[serde(default)]
    pub mime_type: String,
}

impl ResourceDefinition {
    /// Returns what a model is told about the resource.
    pub(crate) fn to_json(&self, server: &str) -> Value {
        let plain = |text: &str| plain_text(text, MAX_TEXT_CHARS);
        let mut described =
            json!({"server": server, "uri": plain(&self.uri), "name": plain(&self.name)});
        for (name, text) in [("description", &self.description), ("mimeType", &self.mime_type)] {
            if let Some(fields) = described.as_object_mut().filter(|_| !text.is_empty()) {
                fields.insert(name.to_owned(), json!(plain(text)));
            }
        }
        described
    }
}

impl ManagedServer {
    /// Lists the resources of the server, and its templates.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] if the server cannot be reached or breaks the protocol.
    pub async fn list_resources(&self) -> Result<Vec<ResourceDefinition>, McpError> {
        let server = self.connected().await?;
        if !server.has_capability("resources") {
            return Ok(Vec::new());
        }
        self.within_call_timeout(async {
            let client = server.client();
            let mut all: Vec<ResourceDefinition> =
                read_list(client, ("resources/list", "resources"), MAX_RESOURCES).await?;
            let templates = ("resources/templates/list", "resourceTemplates");
            match read_list(client, templates, MAX_RESOURCES).await {
                Ok(templates) => all.extend::<Vec<_>>(templates),
                // Templates are optional.
                Err(McpError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
            Ok(all)
        })
        .await
    }

    /// Reads a resource, as blocks that a model can read.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] if the server cannot be reached or refuses.
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, McpError> {
        let server = self.connected().await?;
        let asked = server.client().request("resources/read", json!({"uri": uri}));
        let result = self.within_call_timeout(asked).await?;
        let contents = result.get("contents").and_then(Value::as_array);
        let contents = contents
            .ok_or_else(|| McpError::Invalid("resources/read has no contents".to_owned()))?;
        let files = DataFiles::default();
        Ok(contents.iter().map(|content| resource_block(content, &files)).collect())
    }
}
