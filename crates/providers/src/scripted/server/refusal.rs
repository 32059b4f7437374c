//! A request that is not answered, in no format.

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
    /// The parameter at fault; only OpenAI's formats tell it.
    pub(super) param: Option<String>,
    /// The error's own word; only OpenAI's formats tell it.
    pub(super) code: Option<&'static str>,
    pub(super) retry_after: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, retry_after: None }
    }

    /// A request that makes no sense.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(super) fn about(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(super) fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(super) fn retry_after(mut self, header: Option<&str>) -> Self {
        self.retry_after = header.map(str::to_owned);
        self
    }
}
