//! Text encoding and line endings of a file; an edit keeps both.

/// The encoding of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    /// UTF-8, or any other encoding that contains ASCII: the bytes are left unchanged.
    Plain,
    /// UTF-8 with a byte order mark.
    Utf8WithBom,
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
}

const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";
const UTF16_LE_BOM: &[u8] = b"\xff\xfe";
const UTF16_BE_BOM: &[u8] = b"\xfe\xff";

impl TextEncoding {
    /// Detects the encoding from the first bytes of a file.
    pub(crate) fn detect(bytes: &[u8]) -> Self {
        match bytes {
            _ if bytes.starts_with(UTF8_BOM) => Self::Utf8WithBom,
            _ if bytes.starts_with(UTF16_LE_BOM) => Self::Utf16Le,
            _ if bytes.starts_with(UTF16_BE_BOM) => Self::Utf16Be,
            _ => Self::Plain,
        }
    }

    /// Decodes the text without its byte order mark, to UTF-8 where the encoding is known. `None`
    /// if it is malformed.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let marked = |mark: &[u8]| bytes.strip_prefix(mark).map(<[u8]>::to_vec);
        match self {
            Self::Plain => Some(bytes.to_vec()),
            Self::Utf8WithBom => marked(UTF8_BOM),
            Self::Utf16Le => from_utf16(bytes.strip_prefix(UTF16_LE_BOM)?, u16::from_le_bytes),
            Self::Utf16Be => from_utf16(bytes.strip_prefix(UTF16_BE_BOM)?, u16::from_be_bytes),
        }
    }

    /// Encodes a text. `None` if the text cannot be encoded so.
    pub(crate) fn encode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Plain => Some(text.to_vec()),
            Self::Utf8WithBom => Some([UTF8_BOM, text].concat()),
            Self::Utf16Le => to_utf16(text, UTF16_LE_BOM, u16::to_le_bytes),
            Self::Utf16Be => to_utf16(text, UTF16_BE_BOM, u16::to_be_bytes),
        }
    }

    /// Returns the label shown to the model.
    pub(crate) fn label(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Utf8WithBom => Some("[UTF-8 with a byte order mark]"),
            Self::Utf16Le => Some("[UTF-16, little-endian]"),
            Self::Utf16Be => Some("[UTF-16, big-endian]"),
        }
    }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Vec<u8>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    text.ok().filter(|_| rest.is_empty()).map(String::into_bytes)
}

fn to_utf16(text: &[u8], mark: &[u8], bytes: fn(u16) -> [u8; 2]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    Some(mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect())
}

/// The line endings of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEndings {
    /// A line feed, or there is only one line.
    Lf,
    /// All lines end with a carriage return and a line feed.
    CrLf,
    /// Both kinds occur.
    Mixed,
}

impl LineEndings {
    pub(crate) fn detect(text: &[u8]) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text).count();
        let both = memchr::memmem::find_iter(text, b"\r\n").count();
        match both {
            0 => Self::Lf,
            all if all == feeds => Self::CrLf,
            _ => Self::Mixed,
        }
    }

    /// Converts the line endings of a text that a model wrote, with plain line feeds, to these.
    pub(crate) fn apply(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Lf | Self::Mixed => text.to_vec(),
            Self::CrLf => lf_to_crlf(&crlf_to_lf(text)),
        }
    }

    /// Converts the text to plain line feeds, to be compared with what a model wrote.
    pub(crate) fn to_lf(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Lf | Self::Mixed => text.to_vec(),
            Self::CrLf => crlf_to_lf(text),
        }
    }
}

fn crlf_to_lf(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        plain.extend_from_slice(before);
        rest = after.get(1..).unwrap_or_default();
    }
    plain.extend_from_slice(rest);
    plain
}

fn lf_to_crlf(text: &[u8]) -> Vec<u8> {
    let mut ended = Vec::with_capacity(text.len() + text.len() / 16);
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            ended.extend_from_slice(b"\r\n");
        }
        ended.extend_from_slice(line);
    }
    ended
}
