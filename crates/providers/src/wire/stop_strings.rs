//! Matches stop strings locally, where the server does not support them or does not report which
//! one it met.

use std::sync::Arc;

/// Watches a text as it grows.
#[derive(Debug, Default)]
pub(crate) struct StopStringMatcher {
    stops: Vec<Arc<str>>,
    /// The last characters seen: a stop string may be split between two pieces.
    tail: String,
    longest: usize,
}

impl StopStringMatcher {
    pub(crate) fn new(stops: impl IntoIterator<Item = Arc<str>>) -> Self {
        let stops: Vec<Arc<str>> = stops.into_iter().filter(|stop| !stop.is_empty()).collect();
        let longest = stops.iter().map(|stop| stop.len()).max().unwrap_or_default();
        Self { stops, tail: String::new(), longest }
    }

    /// Returns whether a stop string is complete with this piece.
    pub(crate) fn push_and_check(&mut self, chunk: &str) -> bool {
        if self.stops.is_empty() {
            return false;
        }
        self.tail.push_str(chunk);
        let found = self.find_first(&self.tail).is_some();
        self.trim_tail();
        found
    }

    fn trim_tail(&mut self) {
        let mut start = self.tail.len().saturating_sub(self.longest);
        while !self.tail.is_char_boundary(start) {
            start -= 1;
        }
        self.tail.drain(..start);
    }

    /// Returns the text before the first stop string in it, and that string.
    pub(crate) fn split_at_stop<'a>(&self, text: &'a str) -> Option<(&'a str, Arc<str>)> {
        let (at, stop) = self.find_first(text)?;
        Some((text.get(..at).unwrap_or_default(), stop))
    }

    fn find_first(&self, text: &str) -> Option<(usize, Arc<str>)> {
        let places =
            self.stops.iter().filter_map(|stop| Some((text.find(&**stop)?, Arc::clone(stop))));
        places.min_by_key(|(at, _)| *at)
    }
}
