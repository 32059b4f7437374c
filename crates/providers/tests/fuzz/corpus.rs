//! The recorded streams, as a beginning.

use windlass_providers::names::Format;

use crate::dice::Dice;

pub(crate) struct Corpus {
    streams: Vec<(Format, Vec<u8>)>,
}

impl Corpus {
    pub(crate) fn read() -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cassettes");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The order of a folder is nobody's promise, and a seed must mean the same everywhere.
        paths.sort();
        let streams = paths.iter().map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let format = match name.as_str() {
                name if name.starts_with("anthropic") => Format::AnthropicMessages,
                name if name.starts_with("openai_chat") => Format::OpenAiChat,
                _ => Format::OpenAiResponses,
            };
            (format, std::fs::read(path).unwrap())
        });
        Self { streams: streams.collect() }
    }

    /// A stream of a format.
    pub(crate) fn of(&self, format: Format, dice: &mut Dice) -> &[u8] {
        let own: Vec<_> = self.streams.iter().filter(|(other, _)| *other == format).collect();
        &dice.pick(&own).1
    }

    /// A stream of any format: what one says is noise to another.
    pub(crate) fn any(&self, dice: &mut Dice) -> &[u8] {
        &dice.pick(&self.streams).1
    }
}
