//! How a text file spells its characters and ends its lines. An edit keeps both.

/// How characters are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or anything else in which ASCII is ASCII: the bytes are left alone.
    Plain,
    /// UTF-8 that says so with a mark at its beginning.
    Utf8Marked,
    /// Two bytes each, the lower first.
    Utf16Little,
    /// Two bytes each, the higher first.
    Utf16Big,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const LITTLE_MARK: &[u8] = b"\xff\xfe";
const BIG_MARK: &[u8] = b"\xfe\xff";

impl Encoding {
    /// What the first bytes of a file say.
    pub(super) fn of(bytes: &[u8]) -> Self {
        match bytes {
            _ if bytes.starts_with(UTF8_MARK) => Self::Utf8Marked,
            _ if bytes.starts_with(LITTLE_MARK) => Self::Utf16Little,
            _ if bytes.starts_with(BIG_MARK) => Self::Utf16Big,
            _ => Self::Plain,
        }
    }

    /// The text without its mark, as UTF-8 where we know how. `None` if it is not what it says.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let marked = |mark: &[u8]| bytes.strip_prefix(mark).map(<[u8]>::to_vec);
        match self {
            Self::Plain => Some(bytes.to_vec()),
            Self::Utf8Marked => marked(UTF8_MARK),
            Self::Utf16Little => from_utf16(bytes.strip_prefix(LITTLE_MARK)?, u16::from_le_bytes),
            Self::Utf16Big => from_utf16(bytes.strip_prefix(BIG_MARK)?, u16::from_be_bytes),
        }
    }

    /// The reverse. `None` if the text cannot be spelled so.
    pub(super) fn encode(self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Plain => Some(text.to_vec()),
            Self::Utf8Marked => Some([UTF8_MARK, text].concat()),
            Self::Utf16Little => to_utf16(text, LITTLE_MARK, u16::to_le_bytes),
            Self::Utf16Big => to_utf16(text, BIG_MARK, u16::to_be_bytes),
        }
    }

    /// Words for whoever reads the file.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Utf8Marked => Some("[UTF-8 with a byte order mark]"),
            Self::Utf16Little => Some("[UTF-16, little-endian]"),
            Self::Utf16Big => Some("[UTF-16, big-endian]"),
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

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endings {
    /// With a line feed, or there is only one line.
    Feed,
    /// All of them with a carriage return and a line feed.
    ReturnFeed,
    /// Some this way, some that.
    Mixed,
}

impl Endings {
    pub(super) fn of(text: &[u8]) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text).count();
        let both = memchr::memmem::find_iter(text, b"\r\n").count();
        match both {
            0 => Self::Feed,
            all if all == feeds => Self::ReturnFeed,
            _ => Self::Mixed,
        }
    }

    /// The text with its lines ended as here. A model writes plain line feeds.
    pub(super) fn apply(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Feed | Self::Mixed => text.to_vec(),
            Self::ReturnFeed => with_returns(&without_returns(text)),
        }
    }

    /// The text as it is compared with what a model wrote.
    pub(super) fn plain(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Feed | Self::Mixed => text.to_vec(),
            Self::ReturnFeed => without_returns(text),
        }
    }
}

fn without_returns(text: &[u8]) -> Vec<u8> {
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

fn with_returns(text: &[u8]) -> Vec<u8> {
    let mut ended = Vec::with_capacity(text.len() + text.len() / 16);
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            ended.extend_from_slice(b"\r\n");
        }
        ended.extend_from_slice(line);
    }
    ended
}
