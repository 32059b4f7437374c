//! Lists of a server, which come in pages.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::McpClient;
use crate::connection::McpError;

/// Maximum number of pages of a list.
const MAX_PAGES: usize = 100;

/// Reads all pages of a list, which has at most `max_items`.
pub(crate) async fn read_list<T: DeserializeOwned>(
    client: &McpClient,
    (method, field): (&str, &str),
    max_items: usize,
) -> Result<Vec<T>, McpError> {
    let mut items = Vec::new();
    let mut cursor: Option<Value> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor.take().map_or_else(|| json!({}), |next| json!({"cursor": next}));
        let mut page = client.request(method, params).await?;
        let listed = page.get_mut(field).map(Value::take).unwrap_or_default();
        let listed: Vec<T> = serde_json::from_value(listed)
            .map_err(|error| McpError::Invalid(format!("{method}: {error}")))?;
        items.extend(listed);
        if items.len() > max_items {
            return Err(McpError::Invalid(format!("it has more than {max_items} {field}")));
        }
        cursor = page.get_mut("nextCursor").map(Value::take).filter(Value::is_string);
        if cursor.is_none() {
            return Ok(items);
        }
    }
    let name = field.trim_end_matches('s');
    Err(McpError::Invalid(format!("its {name} list has more than {MAX_PAGES} pages")))
}
