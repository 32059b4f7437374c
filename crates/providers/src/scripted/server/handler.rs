//! One request: routed, read, answered.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response};

use super::asked::{Asked, Delivery, Format};
use super::head::Head;
use super::limits::SILENCE_MS;
use super::opening::{self, Opening};
use super::outgoing::{Dropped, Outgoing};
use super::refusal::Refusal;
use super::respond::{self, Reply};
use super::route::{self, Route};
use super::state::State;
use super::watch::{Outcome, Ticket};
use super::{anthropic, body, models, stream, whole};
use crate::scripted::answer::Fault;

/// A request under way.
pub(super) struct Errand {
    pub(super) state: Arc<State>,
    pub(super) ticket: Ticket,
    pub(super) format: Format,
    pub(super) number: u64,
}

/// Handles a request. The error drops the connection.
pub(super) async fn handle(
    state: Arc<State>,
    request: Request<Incoming>,
) -> Result<Response<Outgoing>, Dropped> {
    let (parts, incoming) = request.into_parts();
    let path = parts.uri.path();
    let format = route::format(path, &parts.headers);
    let what = (parts.method.as_str(), path);
    let ticket = Ticket::new(state.watch.clone(), state.clock.clone(), what);
    let number = state.next_number();
    let errand = Errand { state, ticket, format, number };
    let id = errand.request_id();
    let found = route::check_sender(&parts.headers)
        .and_then(|()| route::find(&parts.method, path, &parts.headers));
    let reply = match found {
        Ok(route) => errand.follow(route, incoming).await,
        Err(refusal) => Some(errand.refuse(&refusal)),
    };
    let mut response = reply.ok_or(Dropped)?;
    respond::identify(response.headers_mut(), format, &id);
    Ok(response)
}

impl Errand {
    async fn follow(self, route: Route, incoming: Incoming) -> Reply {
        match route {
            Route::Ask(format) => self.ask(format, incoming).await,
            Route::CountTokens => self.count(incoming).await,
            Route::Models(catalogue) => Some(self.tell(models::list(catalogue))),
            Route::Model(catalogue, id) => Some(self.tell(models::one(catalogue, &id))),
        }
    }

    async fn ask(self, format: Format, incoming: Incoming) -> Reply {
        let asked = match body::read(&self.state, incoming).await? {
            Ok(held) => format.read(&held.text),
            Err(refusal) => Err(refusal),
        };
        match asked {
            Ok(asked) => self.answer(asked).await,
            Err(refusal) => Some(self.refuse(&refusal)),
        }
    }

    async fn count(self, incoming: Incoming) -> Reply {
        let counted = match body::read(&self.state, incoming).await? {
            Ok(held) => anthropic::count_tokens(&held.text),
            Err(refusal) => Err(refusal),
        };
        match counted {
            Ok(json) => Some(self.tell(json)),
            Err(refusal) => Some(self.refuse(&refusal)),
        }
    }

    async fn answer(self, asked: Asked) -> Reply {
        let answer = self.state.answer(&asked.view);
        let head = Head::new(self.number, self.state.seconds(), &answer);
        let clock = self.state.clock.clone();
        match opening::wait(&answer.steps, clock.as_ref()).await {
            Opening::Fault(fault) => self.fault(fault).await,
            Opening::Answer(steps, pace) => match asked.delivery {
                Delivery::Streamed => {
                    let begun = stream::Begun { steps: steps.to_vec(), pace, stop: answer.stop };
                    Some(stream::start(self, begun, asked.order.stream(head)))
                }
                Delivery::Whole => {
                    whole::perform(self, &asked.order, head, (&answer, steps, pace)).await
                }
            },
        }
    }

    /// A fault before anything was sent.
    pub(super) async fn fault(self, fault: &Fault) -> Reply {
        match fault {
            Fault::Status { code, retry_after, message } => {
                let refusal = Refusal::new(*code, message.as_str());
                Some(self.refuse(&refusal.retry_after(retry_after.as_deref())))
            }
            Fault::Timeout => self.keep_silent().await,
            Fault::Connect => self.close(),
        }
    }

    /// If the client gives up first, hyper drops this future, and the ticket says so.
    async fn keep_silent(self) -> Reply {
        self.state.clock.sleep(SILENCE_MS).await;
        self.close()
    }

    fn close(self) -> Reply {
        self.ticket.done(Outcome::Closed);
        None
    }

    pub(super) fn refuse(self, refusal: &Refusal) -> Response<Outgoing> {
        let response = respond::refused(self.format, refusal, &self.request_id());
        let (status, because) = (refusal.status, refusal.message.clone());
        self.ticket.done(Outcome::Answered { status, because });
        response
    }

    fn tell(self, json: String) -> Response<Outgoing> {
        self.ticket.done(Outcome::Answered { status: 200, because: String::new() });
        respond::json(200, Outgoing::whole(json))
    }

    fn request_id(&self) -> String {
        let number = self.number;
        format!("req_{number:024}")
    }
}
