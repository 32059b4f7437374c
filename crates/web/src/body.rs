//! Reads a body: decompressed, and no more of it than is kept.

use std::io::Write;

use bytes::Bytes;
use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// A body in bounded memory.
pub(crate) struct BoundedBody {
    decoder: Decoder,
    is_full: bool,
}

enum Decoder {
    Plain(CappedBuffer),
    Gzip(MultiGzDecoder<CappedBuffer>),
    Zlib(ZlibDecoder<CappedBuffer>),
}

impl BoundedBody {
    /// Returns an empty body for this content encoding; the error names one that is not known.
    pub(crate) fn new(encoding: &str, limit: usize) -> Result<Self, String> {
        let buffer = CappedBuffer { bytes: Vec::new(), limit, is_full: false };
        let decoder = match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Decoder::Plain(buffer),
            "gzip" | "x-gzip" => Decoder::Gzip(MultiGzDecoder::new(buffer)),
            "deflate" => Decoder::Zlib(ZlibDecoder::new(buffer)),
            other => return Err(format!("the encoding {other} was not asked for")),
        };
        Ok(Self { decoder, is_full: false })
    }

    /// Adds a piece. Returns whether there is room for more.
    pub(crate) fn push(&mut self, piece: &Bytes) -> Result<bool, String> {
        let written = match &mut self.decoder {
            Decoder::Plain(buffer) => buffer.write_all(piece),
            Decoder::Gzip(decoder) => decoder.write_all(piece),
            Decoder::Zlib(decoder) => decoder.write_all(piece),
        };
        self.is_full = self.buffer().is_full;
        match written {
            Ok(()) => Ok(!self.is_full),
            Err(_) if self.is_full => Ok(false),
            Err(error) => Err(format!("the compressed content is damaged: {error}")),
        }
    }

    fn buffer(&self) -> &CappedBuffer {
        match &self.decoder {
            Decoder::Plain(buffer) => buffer,
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Zlib(decoder) => decoder.get_ref(),
        }
    }

    /// Returns what was kept, and whether that is all.
    pub(crate) fn finish(mut self) -> (Vec<u8>, bool) {
        // What a damaged end leaves behind is not needed.
        let _ = match &mut self.decoder {
            Decoder::Plain(_) => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Zlib(decoder) => decoder.try_finish(),
        };
        let is_whole = !self.buffer().is_full;
        let buffer = match &mut self.decoder {
            Decoder::Plain(buffer) => buffer,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => decoder.get_mut(),
        };
        (std::mem::take(&mut buffer.bytes), is_whole)
    }
}

/// Keeps bytes up to a limit, and then refuses more.
struct CappedBuffer {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for CappedBuffer {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        let room = self.limit.saturating_sub(self.bytes.len());
        let kept = piece.get(..room).unwrap_or(piece);
        self.bytes.extend_from_slice(kept);
        if kept.len() < piece.len() {
            self.is_full = true;
            return Err(std::io::Error::other("the limit is reached"));
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
