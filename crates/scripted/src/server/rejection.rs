//! A rejected request, independent of the format.

/// Why a request is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestRejection {
    pub(super) status: u16,
    pub(super) message: String,
    /// The parameter at fault; only OpenAI's formats report it.
    pub(super) param: Option<String>,
    /// The code of the error; only OpenAI's formats report it.
    pub(super) code: Option<&'static str>,
    pub(super) retry_after: Option<String>,
}

impl RequestRejection {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, retry_after: None }
    }

    /// The rejection of an invalid request.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(super) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(super) fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(super) fn with_retry_after(mut self, header: Option<&str>) -> Self {
        self.retry_after = header.map(str::to_owned);
        self
    }
}
