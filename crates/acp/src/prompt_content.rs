//! The content of a prompt: text, images, links to resources, and resources themselves.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    BlobResourceContents, ContentBlock as GivenBlock, EmbeddedResourceResource, ImageContent,
    ResourceLink, TextResourceContents,
};
use serde_json::json;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;

/// The kinds of images that models read.
const IMAGE_KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Maximum number of blocks of a prompt.
const MAX_BLOCKS: usize = 1_000;

/// A prompt, split into what the user wrote and what came with it.
#[derive(Debug, Default)]
pub(crate) struct PromptContent {
    /// The text of the user, with links as Markdown.
    pub(crate) text: String,
    /// Images and resources.
    pub(crate) attached: Vec<ContentBlock>,
}

impl PromptContent {
    /// Reads the blocks of a prompt.
    pub(crate) fn read(blocks: Vec<GivenBlock>) -> Result<Self, Error> {
        if blocks.len() > MAX_BLOCKS {
            return Err(invalid(format!("a prompt has at most {MAX_BLOCKS} blocks; send fewer")));
        }
        let mut content = Self::default();
        for block in blocks {
            content.add(block)?;
        }
        if content.text.trim().is_empty() && content.attached.is_empty() {
            return Err(invalid("the prompt is empty; write what to do".to_owned()));
        }
        Ok(content)
    }

    fn add(&mut self, block: GivenBlock) -> Result<(), Error> {
        match block {
            GivenBlock::Text(text) => self.text.push_str(&text.text),
            GivenBlock::Image(image) => self.attached.push(image_block(&image)?),
            GivenBlock::ResourceLink(link) => self.text.push_str(&link_text(&link)),
            GivenBlock::Resource(resource) => self.add_resource(resource.resource)?,
            GivenBlock::Audio(_) => {
                return Err(invalid("audio is not supported; send text".to_owned()));
            }
            _ => return Err(invalid("unknown kind of content; send text".to_owned())),
        }
        Ok(())
    }

    fn add_resource(&mut self, resource: EmbeddedResourceResource) -> Result<(), Error> {
        match resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                self.text.push_str(&mention(&text.uri));
                self.attached.push(resource_block(&text));
                Ok(())
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                self.attached.push(blob_block(&blob)?);
                self.text.push_str(&mention(&blob.uri));
                Ok(())
            }
            _ => Err(invalid("unknown kind of resource; send its text".to_owned())),
        }
    }
}

fn image_block(image: &ImageContent) -> Result<ContentBlock, Error> {
    media_block("image", &image.mime_type, &image.data)
}

fn blob_block(blob: &BlobResourceContents) -> Result<ContentBlock, Error> {
    match blob.mime_type.as_deref() {
        Some("application/pdf") => Ok(raw_media_block("document", "application/pdf", &blob.blob)),
        Some(kind) => media_block("image", kind, &blob.blob),
        None => Err(invalid(format!("the kind of {} is not given; name its mimeType", blob.uri))),
    }
}

fn media_block(block: &str, kind: &str, data: &str) -> Result<ContentBlock, Error> {
    if !IMAGE_KINDS.contains(&kind) {
        let known = IMAGE_KINDS.join(", ");
        return Err(invalid(format!("a model cannot read {kind}; send one of {known}")));
    }
    if data.is_empty() {
        return Err(invalid("an image has no data; send it in base64".to_owned()));
    }
    Ok(raw_media_block(block, kind, data))
}

fn raw_media_block(block: &str, kind: &str, data: &str) -> ContentBlock {
    let source = json!({"type": "base64", "media_type": kind, "data": data});
    ContentBlock::new(RawJson::encode(&json!({"type": block, "source": source})))
}

fn resource_block(resource: &TextResourceContents) -> ContentBlock {
    let TextResourceContents { uri, text, .. } = resource;
    ContentBlock::text(&format!("<resource uri=\"{uri}\">\n{text}\n</resource>"))
}

/// A link, as Markdown. The model reads a file itself.
fn link_text(link: &ResourceLink) -> String {
    format!("[@{}]({})", link.name, path_of(&link.uri))
}

fn mention(uri: &str) -> String {
    let path = path_of(uri);
    let name = path.rsplit('/').next().unwrap_or(path);
    format!("[@{name}]({path})")
}

/// The path of a file, as tools take it; other addresses stay as they are.
fn path_of(uri: &str) -> &str {
    uri.strip_prefix("file://").unwrap_or(uri)
}

fn invalid(reason: String) -> Error {
    let mut error = Error::invalid_params();
    error.message = reason;
    error
}
