//! A model behind HTTP, whatever it speaks.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Uri};
use windlass_core::input::Failure;
use windlass_core::reply::Reply;
use windlass_core::request::Request;
use windlass_runtime::ports::{Model, Stream, Task};

use crate::asked::Asked;
use crate::endpoint::{Endpoint, Shared};
use crate::exchange::{Exchange, Failed};
use crate::fault::{Begun, Fault};
use crate::http::Target;
use crate::lesson::Lesson;
use crate::limiter::Gate;
use crate::limits::KEPT_ENCODINGS;
use crate::names::Format;
use crate::notice::Notice;
use crate::options::{Delivery, Options};
use crate::plan::Planned;
use crate::secret::Redactor;
use crate::wire::{Closed, How, Thoughts, Wire};
use crate::wires;

/// How often a refused call is made differently before it counts as refused.
const OTHER_WAYS: usize = 3;

/// The beta that task budgets need.
const TASK_BUDGET_BETA: &str = "task-budgets-2026-03-13";

/// A model behind HTTP.
pub struct Remote {
    shared: Shared,
    endpoint: Endpoint,
    options: Options,
    wire: Arc<dyn Wire>,
    target: Target,
    path: Uri,
    headers: HeaderMap,
    gate: Arc<Gate>,
    redactor: Redactor,
    learned: RwLock<Arc<Planned>>,
    delivery: Mutex<Delivery>,
    thoughtless: Mutex<HashSet<usize>>,
}

impl Remote {
    /// A model that can be asked; an address or key that cannot work is said at once.
    pub fn new(endpoint: Endpoint, shared: Shared, options: Options) -> Result<Self, Failure> {
        let redactor = Redactor::new(endpoint.credential.secret());
        let failure = |fault: &Fault| fault.failure(Begun::No, &redactor);
        let target = Target::parse(endpoint.address()).map_err(|fault| failure(&fault))?;
        let mut headers = endpoint.headers().map_err(|fault| failure(&fault))?;
        let wire = wires::wire(endpoint.format, &endpoint.model, endpoint.dialect, betas(&options));
        wire.headers(&mut headers);
        let path = target.uri(wire.path()).map_err(|fault| failure(&fault))?;
        let knowledge = shared.capabilities.of(&endpoint.model);
        let planned = Planned::new(Arc::clone(&endpoint.model), &options, &knowledge);
        Ok(Self {
            gate: shared.limiter.gate(&endpoint.gate_name()),
            learned: RwLock::new(Arc::new(planned)),
            delivery: Mutex::new(options.delivery),
            thoughtless: Mutex::default(),
            shared,
            endpoint,
            options,
            wire,
            target,
            path,
            headers,
            redactor,
        })
    }

    /// What it is and where.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The body a request would be sent with, for whoever measures or debugs.
    #[must_use]
    pub fn body(&self, request: &Request) -> Vec<Bytes> {
        let planned = self.planned();
        self.wire.body(request, &planned, &self.how(request, &planned))
    }

    /// Counts a request's input tokens at the server, where it can.
    pub async fn count_tokens(&self, request: &Request) -> Result<u64, Failure> {
        if self.endpoint.format != Format::AnthropicMessages {
            let fault = Fault::Misconfigured("only the Messages API counts tokens".to_owned());
            return Err(fault.failure(Begun::No, &self.redactor));
        }
        let planned = self.planned();
        let body = self.wire.counting_body(request, &planned, &self.how(request, &planned));
        let path = self.target.uri(&format!("{}/count_tokens", self.wire.path()));
        let path = path.map_err(|fault| fault.failure(Begun::No, &self.redactor))?;
        let text = self.exchange(&path).text(body).await.map_err(|failed| self.failure(&failed))?;
        #[derive(serde::Deserialize)]
        struct Counted {
            input_tokens: u64,
        }
        serde_json::from_str(&text).map(|counted: Counted| counted.input_tokens).map_err(|error| {
            let fault = Fault::Malformed(format!("the answer is no count: {error}"));
            fault.failure(Begun::No, &self.redactor)
        })
    }

    fn planned(&self) -> Arc<Planned> {
        Arc::clone(&self.learned.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn how(&self, request: &Request, planned: &Planned) -> How {
        let thoughtless = self.thoughtless.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = conversation(request).is_some_and(|id| thoughtless.contains(&id));
        How {
            max_tokens: planned.output_limit(request.max_tokens),
            delivery: *self.delivery.lock().unwrap_or_else(PoisonError::into_inner),
            thoughts: if left_out { Thoughts::LeftOut } else { Thoughts::Returned },
        }
    }

    fn exchange<'a>(&'a self, path: &'a Uri) -> Exchange<'a> {
        Exchange {
            wire: self.wire.as_ref(),
            client: &self.shared.client,
            gate: &self.gate,
            clock: self.shared.clock.as_ref(),
            target: &self.target,
            headers: &self.headers,
            path,
            deadlines: self.options.deadlines,
        }
    }

    async fn reply(&self, request: &Request, stream: &dyn Stream) -> Result<Reply, Failure> {
        let mut ways = OTHER_WAYS;
        loop {
            let planned = self.planned();
            let how = self.how(request, &planned);
            match self.attempt(request, &planned, how, stream).await {
                Ok(closed) => return Ok(self.finished(closed, request, &planned, how)),
                Err(failed) if ways > 0 && self.learn(&failed, request, how) => ways -= 1,
                Err(failed) => return Err(self.failure(&failed)),
            }
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        planned: &Planned,
        how: How,
        stream: &dyn Stream,
    ) -> Result<Closed, Failed> {
        let body = self.wire.body(request, planned, &how);
        let asked = Asked {
            model: Arc::clone(&self.endpoint.model),
            ask: request.ask,
            body_bytes: body.iter().map(Bytes::len).sum(),
            stops: request.settings.stop_map.keys().cloned().collect(),
        };
        self.exchange(&self.path).ask(body, asked, how.delivery, stream).await
    }

    /// Whether the call may be made again, differently.
    fn learn(&self, failed: &Failed, request: &Request, how: How) -> bool {
        let Some(lesson) = Lesson::of(&failed.fault).filter(|_| failed.begun == Begun::No) else {
            return false;
        };
        if let Some(learned) = lesson.learned() {
            let model = &self.endpoint.model;
            self.shared.capabilities.learn(model, learned);
            let knowledge = self.shared.capabilities.of(model);
            let planned = Planned::new(Arc::clone(model), &self.options, &knowledge);
            *self.learned.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(planned);
        }
        match lesson {
            Lesson::OutputLimit(tokens) => tokens < how.max_tokens,
            Lesson::Window(_) => false,
            Lesson::NoStream => {
                *self.delivery.lock().unwrap_or_else(PoisonError::into_inner) = Delivery::Whole;
                how.delivery == Delivery::Streamed
            }
            Lesson::ForeignThoughts => {
                self.leave_thoughts_out(request);
                how.thoughts == Thoughts::Returned
            }
        }
    }

    fn leave_thoughts_out(&self, request: &Request) {
        let mut thoughtless = self.thoughtless.lock().unwrap_or_else(PoisonError::into_inner);
        if thoughtless.len() >= KEPT_ENCODINGS {
            thoughtless.clear();
        }
        thoughtless.extend(conversation(request));
    }

    fn finished(&self, closed: Closed, request: &Request, planned: &Planned, how: How) -> Reply {
        let Closed { mut reply, mut envelope } = closed;
        planned.plan.notices.iter().for_each(|notice| envelope.notice(*notice));
        if how.max_tokens < request.max_tokens {
            envelope.notice(Notice::OutputLimitLowered);
        }
        let has_tools = !request.settings.tools.is_empty();
        let called = reply.cut.is_some() || reply.tool_uses().next().is_some();
        if planned.plan.demands_a_call() && has_tools && !called {
            envelope.notice(Notice::ToolChoiceIgnored);
        }
        reply.envelope = envelope.close();
        reply
    }

    fn failure(&self, failed: &Failed) -> Failure {
        failed.fault.failure(failed.begun, &self.redactor)
    }
}

impl Model for Remote {
    fn ask(&self, request: Request, stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(async move { self.reply(&request, stream.as_ref()).await })
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

fn betas(options: &Options) -> Option<HeaderValue> {
    let budget = options.task_budget_tokens.map(|_| TASK_BUDGET_BETA);
    let names: Vec<&str> = options.betas.iter().map(|beta| &**beta).chain(budget).collect();
    if names.is_empty() {
        return None;
    }
    HeaderValue::from_str(&names.join(",")).ok()
}

/// Which conversation a request belongs to, by its first segment.
fn conversation(request: &Request) -> Option<usize> {
    let first = request.transcript.segments().front()?;
    Some(Arc::as_ptr(&first.blocks).cast::<u8>().addr())
}
