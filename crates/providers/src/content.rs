//! The content of blocks, for formats that write it differently: texts, images, documents.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::block::{Block, Kind};
use windlass_core::raw::Raw;

use crate::lossless;

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words.
    Text(String),
    /// A picture, by its address; one that was sent along has a `data:` address.
    Image(String),
    /// A file that was sent along.
    File {
        /// Its name.
        name: String,
        /// Its `data:` address.
        address: String,
    },
}

#[derive(Debug, Deserialize)]
struct Sourced<'a> {
    #[serde(borrow)]
    source: Source<'a>,
    #[serde(borrow)]
    title: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
struct Source<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    media_type: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Cow<'a, str>,
    #[serde(borrow, default)]
    url: Cow<'a, str>,
}

/// What a block says to a reader; nothing for calls, results and what only its own provider reads.
pub(crate) fn piece(block: &Block) -> Option<Piece> {
    match block.kind() {
        Kind::Text(text) => Some(Piece::Text(text.to_string())),
        Kind::Other(kind) if &**kind == "image" => image(block),
        Kind::Other(kind) if &**kind == "document" => document(block),
        Kind::Other(_) | Kind::ToolUse(_) | Kind::ToolResult { .. } => None,
    }
}

fn image(block: &Block) -> Option<Piece> {
    let Sourced { source, .. } = block.raw().read().ok()?;
    Some(Piece::Image(address(&source)))
}

fn document(block: &Block) -> Option<Piece> {
    let Sourced { source, title } = block.raw().read().ok()?;
    if source.kind == "text" {
        return Some(Piece::Text(source.data.into_owned()));
    }
    let name = title.map_or_else(|| "document.pdf".to_owned(), Cow::into_owned);
    Some(Piece::File { name, address: address(&source) })
}

fn address(source: &Source<'_>) -> String {
    if source.kind == "url" {
        return source.url.clone().into_owned();
    }
    format!("data:{};base64,{}", source.media_type, source.data)
}

/// What a tool brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Brought<'a> {
    /// Its words, as a JSON string.
    pub(crate) words: Cow<'a, str>,
    /// Everything else.
    pub(crate) others: Vec<Piece>,
}

/// Reads a result. Words that are a JSON string already stay as they are.
pub(crate) fn result(block: &Block) -> Brought<'_> {
    #[derive(Deserialize)]
    struct ToolResult<'a> {
        #[serde(borrow)]
        content: Option<&'a RawValue>,
    }
    let content = block.raw().read::<ToolResult<'_>>().ok().and_then(|result| result.content);
    let Some(content) = content else { return words("") };
    if lossless::escaped(content).is_some() {
        return Brought { words: Cow::Borrowed(content.get()), others: Vec::new() };
    }
    match serde_json::from_str::<Vec<Block>>(content.get()) {
        Ok(blocks) => of_blocks(&blocks),
        Err(_) => words(content.get()),
    }
}

fn of_blocks<'a>(blocks: &[Block]) -> Brought<'a> {
    let (texts, others): (Vec<Piece>, Vec<Piece>) =
        blocks.iter().filter_map(piece).partition(|piece| matches!(piece, Piece::Text(_)));
    let texts: Vec<&str> = texts.iter().filter_map(Piece::as_text).collect();
    Brought { others, ..words(&texts.join("\n")) }
}

fn words<'a>(text: &str) -> Brought<'a> {
    Brought { words: Cow::Owned(Raw::string(text).text().to_owned()), others: Vec::new() }
}

impl Piece {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) | Self::File { .. } => None,
        }
    }
}
