//! Files that prompts refer to: uploaded once, sent to the model as an image, a document or text.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use windlass::core::log::ids::UnixMillis;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, Store};

use crate::body::{ApiBody, ApiQuery};
use crate::caller::Caller;
use crate::documents::{self, DocumentBody, Stored};
use crate::json::ApiJson;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::time::now;
use crate::views::{ListParameters, Page, document_page};

/// The largest file, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 10 * 1024 * 1024;

/// The largest body of an upload: the file in base64, with its name.
pub(crate) const MAX_UPLOAD_BYTES: usize = 14 * 1024 * 1024;

/// The most files of a tenant.
const MAX_FILES: usize = 1_000;

/// The most files of a prompt.
const MAX_FILES_OF_PROMPT: usize = 20;

/// The most characters of the name of a file.
const MAX_NAME_CHARS: usize = 255;

/// The media types of images that models take.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A file to be uploaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFile {
    /// The name of the file.
    name: String,
    /// Its media type: an image, `application/pdf`, or text.
    media_type: String,
    /// The content, in base64.
    data: String,
}

/// A file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileView {
    /// Identifies the file.
    file_id: String,
    /// The name of the file.
    name: String,
    /// Its media type.
    media_type: String,
    /// Its size in bytes.
    size: u64,
    /// The SHA-256 of its content.
    sha256: String,
    /// When it was uploaded, in ISO 8601.
    created_at: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    name: String,
    media_type: String,
    size: u64,
    sha256: String,
    created_at_ms: u64,
}

impl DocumentBody for FileRecord {
    const KIND: &'static str = "file";
}

/// The content of a file, which lists do not read.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FileContent {
    data: String,
}

impl DocumentBody for FileContent {
    const KIND: &'static str = "file_content";
}

impl FileView {
    fn new(stored: &Stored<FileRecord>) -> Self {
        let record = &stored.body;
        Self {
            file_id: stored.key.to_string(),
            name: record.name.clone(),
            media_type: record.media_type.clone(),
            size: record.size,
            sha256: record.sha256.clone(),
            created_at: format_iso_time(UnixMillis(record.created_at_ms)),
        }
    }
}

/// `POST /v1/files`.
pub(crate) async fn upload_file(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(body): ApiBody<NewFile>,
) -> Result<Response, Problem> {
    let bytes = check_file(&body)?;
    let store = state.windlass.store();
    let tenant = caller.tenant_of_new();
    let known: Vec<Stored<FileRecord>> =
        documents::list_documents(store, Some(&tenant), DocumentFilter::All, MAX_FILES).await?;
    if known.len() >= MAX_FILES {
        return Err(Problem::new(
            ProblemCode::LimitReached,
            format!("the tenant has {MAX_FILES} files already; delete some"),
        ));
    }
    let record = FileRecord {
        name: body.name,
        media_type: body.media_type.to_ascii_lowercase(),
        size: bytes.len() as u64,
        sha256: hex::encode(Sha256::digest(&bytes)),
        created_at_ms: now().0,
    };
    let key = uuid::Uuid::now_v7().to_string();
    let content = FileContent { data: body.data };
    Stored::new(key.as_str(), tenant.clone(), content).insert(store).await?;
    let stored = Stored::new(key.as_str(), tenant, record);
    stored.insert(store).await?;
    let location = [(header::LOCATION, format!("/v1/files/{key}"))];
    Ok((StatusCode::CREATED, location, ApiJson(FileView::new(&stored))).into_response())
}

fn check_file(body: &NewFile) -> Result<Vec<u8>, Problem> {
    let is_name = !body.name.is_empty()
        && body.name.chars().count() <= MAX_NAME_CHARS
        && !body.name.chars().any(char::is_control);
    if !is_name {
        return Err(Problem::invalid(format!(
            "`name` takes 1 to {MAX_NAME_CHARS} characters without control characters"
        )));
    }
    let bytes = STANDARD.decode(&body.data);
    let bytes = bytes.map_err(|_| Problem::invalid("`data` is not valid base64"))?;
    if bytes.len() > MAX_FILE_BYTES {
        let detail = format!("a file may have {MAX_FILE_BYTES} bytes; send less");
        return Err(Problem::new(ProblemCode::BodyTooLarge, detail));
    }
    match FileUse::of(&body.media_type.to_ascii_lowercase()) {
        Some(FileUse::Text) if std::str::from_utf8(&bytes).is_err() => {
            Err(Problem::invalid("`data` is not text in UTF-8; give its media type"))
        }
        Some(_) => Ok(bytes),
        None => Err(Problem::invalid(format!(
            "`media_type` takes {}, application/pdf, application/json or text/…",
            IMAGE_TYPES.join(", ")
        ))),
    }
}

/// How the model gets a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileUse {
    Image,
    Pdf,
    Text,
}

impl FileUse {
    fn of(media_type: &str) -> Option<Self> {
        match media_type {
            "application/pdf" => Some(Self::Pdf),
            "application/json" => Some(Self::Text),
            _ if IMAGE_TYPES.contains(&media_type) => Some(Self::Image),
            _ if media_type.starts_with("text/") => Some(Self::Text),
            _ => None,
        }
    }
}

/// `GET /v1/files`.
pub(crate) async fn list_files(
    State(state): State<ApiState>,
    caller: Caller,
    ApiQuery(given): ApiQuery<ListParameters>,
) -> Result<ApiJson<Page<FileView>>, Problem> {
    let store = state.windlass.store();
    let page = document_page(store, &caller, &given, DocumentFilter::All, FileView::new).await?;
    Ok(ApiJson(page))
}

async fn find_file(
    store: &dyn Store,
    caller: &Caller,
    id: &str,
) -> Result<Stored<FileRecord>, Problem> {
    let found = documents::find_document::<FileRecord>(store, id).await?;
    let found = found.filter(|file| caller.sees(&file.tenant));
    found.ok_or_else(|| Problem::not_found("file"))
}

/// `GET /v1/files/{file_id}`.
pub(crate) async fn show_file(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<ApiJson<FileView>, Problem> {
    let found = find_file(state.windlass.store(), &caller, &id).await?;
    Ok(ApiJson(FileView::new(&found)))
}

/// `DELETE /v1/files/{file_id}`. Prompts that were sent keep what they had.
pub(crate) async fn delete_file(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let store = state.windlass.store();
    let found = find_file(store, &caller, &id).await?;
    found.delete(store).await?;
    store.delete_document(Arc::from(FileContent::KIND), found.key, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the blocks of a prompt with files.
pub(crate) async fn prompt_blocks(
    store: &dyn Store,
    tenant: &Arc<str>,
    text: &str,
    files: &[String],
) -> Result<Vec<ContentBlock>, Problem> {
    if files.len() > MAX_FILES_OF_PROMPT {
        let detail = format!("`files` takes {MAX_FILES_OF_PROMPT} files at most");
        return Err(Problem::invalid(detail));
    }
    let mut blocks = Vec::with_capacity(files.len() + 1);
    for id in files {
        blocks.push(file_block(store, tenant, id).await?);
    }
    blocks.push(ContentBlock::text(text));
    Ok(blocks)
}

async fn file_block(
    store: &dyn Store,
    tenant: &Arc<str>,
    id: &str,
) -> Result<ContentBlock, Problem> {
    let missing = || Problem::invalid(format!("`files` names `{id}`, and there is no such file"));
    let record = documents::find_document::<FileRecord>(store, id).await?;
    let record = record.filter(|file| file.tenant == *tenant).ok_or_else(missing)?;
    let content = documents::find_document::<FileContent>(store, id).await?.ok_or_else(missing)?;
    let FileRecord { name, media_type, .. } = record.body;
    let data = content.body.data;
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    let block = match FileUse::of(&media_type) {
        Some(FileUse::Image) => json!({"type": "image", "source": source}),
        Some(FileUse::Pdf) => json!({"type": "document", "source": source, "title": name}),
        Some(FileUse::Text) | None => {
            let bytes = STANDARD.decode(&data).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(ContentBlock::text(&format!("File {name}:\n\n{text}")));
        }
    };
    Ok(ContentBlock::new(RawJson::encode(&block)))
}
