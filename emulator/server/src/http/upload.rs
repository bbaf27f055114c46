//! Starting a run: the upload.

use std::time::Duration;
use tilewright_app::{Blame, Diagnostic};
use tilewright_plan::image::ENTRY;
use tilewright_report::sentence;

use axum::body::Body;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, http::header};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tilewright_model::quantise::{RangeRule, UnknownRule};
use tilewright_protocol::UnknownMode;
use utoipa::ToSchema;

use super::Shared;
use super::answer::Refusal;
use super::pace::Pace;
use super::run_routes::Links;
use crate::config::Config;
use crate::peer::Peer;
use crate::runs::Room;
use crate::upload::{Part, Spool, Upload};

/// How long the rest of a refused upload is read, so that the client gets to see the answer:
/// one that is still sending when the connection closes sees only that.
const DRAIN: Duration = Duration::from_secs(10);

/// Most parts of an upload.
const MOST_PARTS: usize = 32;

/// For which board.
#[derive(Debug, Deserialize)]
pub struct ForBoard {
    board: Option<String>,
}

/// A run that has been taken.
#[derive(Debug, Serialize, ToSchema)]
pub struct Accepted {
    pub id: String,
    /// Its addresses.
    pub links: Links,
    /// How long its result can be had.
    pub kept: String,
}

/// The parts of an upload. One of `image`, `model` and `zoo`.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derived description alone")]
pub struct UploadParts {
    /// A plan image for the board.
    #[schema(value_type = Option<String>, format = Binary)]
    image: Option<Vec<u8>>,
    /// The store image of external flash that was made with `image`, if it keeps weights there.
    #[schema(value_type = Option<String>, format = Binary)]
    external_flash: Option<Vec<u8>>,
    /// The store image of a card that was made with `image`, likewise.
    #[schema(value_type = Option<String>, format = Binary)]
    card: Option<Vec<u8>>,
    /// An ONNX or TensorFlow Lite model with static shapes: imported, if float quantised on
    /// `samples`, planned (strategy `resident`), and every layer is compared with the reference.
    #[schema(value_type = Option<String>, format = Binary)]
    model: Option<Vec<u8>>,
    /// A file that `model` keeps weights in, under the name that it has there; may be repeated.
    #[schema(value_type = Option<String>, format = Binary)]
    data: Option<Vec<u8>>,
    /// A network of the zoo, as `/api/zoo` names them, with width and resolution behind: planned
    /// as `model` is; without `samples` its scales are analytic.
    zoo: Option<String>,
    /// Samples for quantising a float `model` or `zoo`: a .npy file of float32, first dimension the
    /// samples.
    #[schema(value_type = Option<String>, format = Binary)]
    samples: Option<Vec<u8>>,
    /// How ranges of activations follow from the samples: `minmax` (as usual), `percentile`,
    /// `percentile=P`, or `mse`. For what is quantised here: not for a plan image, which holds its
    /// scales, nor for analytic scales, nor for an int8 model.
    calibration: Option<String>,
    /// What the network takes for pixels of pictures and bytes: `0..1`, `-1..1`, `0..255`, `imagenet`, or MEAN/DEVIATION
    /// of bytes; else what the file says, else `0..1`.
    pixels: Option<String>,
    /// The int8 bytes of all inputs, one behind the other; or a PNG picture or .npy array of the
    /// input's shape. May be missing with `model`: then the first sample is the input.
    #[schema(value_type = Option<String>, format = Binary)]
    input: Option<Vec<u8>>,
    /// NAME=SIZE of a dimension that `model` leaves open; may be repeated.
    dim: Option<String>,
    /// `layers`: keep the outputs of all layers.
    watch: Option<String>,
    /// `full` (as usual), or `sampled`: of compute steps that run alike the first is executed, so that
    /// there are counts and a timeline, but no outputs.
    mode: Option<String>,
    /// Of an `image` with sub-networks: run the largest whose predicted latency is at most so many microseconds.
    limit_us: Option<u32>,
}

/// Start a run
///
/// Uploads a plan image or a model, and queues its run. The answer is immediate; follow
/// `links.events` or ask `links.run`. A run to which nobody listens and for which nobody asks
/// for a minute is cancelled. What has the same model, plan, input and firmware as a run before is not run
/// again: its result is there at once. `kept` says how long results can be had, and whether a server that is started
/// again has them still.
#[utoipa::path(
    post, path = "/api/runs", tag = "runs",
    params(("board" = String, Query, description = "Board id")),
    request_body(content = UploadParts, content_type = "multipart/form-data"),
    responses(
        (status = 202, description = "Taken", body = Accepted),
        (status = 400, description = "The upload is not as it must be, or came too slowly", body = Diagnostic),
        (status = 403, description = "From another origin or under another name", body = Diagnostic),
        (status = 413, description = "A part is longer than allowed", body = Diagnostic),
        (status = 429, description = "The queue is full; see Retry-After", body = Diagnostic),
        (status = 503, description = "Firmware or worker have not been built", body = Diagnostic)
    )
)]
pub async fn start(
    State(shared): State<Shared>,
    Query(for_board): Query<ForBoard>,
    request: Request,
) -> Response {
    let board = find_board(&shared, for_board.board.as_deref());
    let peer = request.extensions().get::<Peer>().copied().unwrap_or_default();
    let ready = board.and_then(|board| {
        shared.executor().ready()?;
        Ok((board, shared.runs().room()?))
    });
    let (board, mut room) = match ready {
        Ok(ready) => ready,
        Err(problem) => {
            drain(request.into_body()).await;
            return Refusal(problem).into_response();
        }
    };
    let config = shared.config();
    let (pace, request) = Pace::of(request, config);
    let reading = read(request, config, &mut room);
    let upload = match tokio::time::timeout(config.upload, reading).await {
        Ok(Ok(upload)) => upload,
        Ok(Err(problem)) => return Refusal(pace.problem().unwrap_or(problem)).into_response(),
        Err(_) => {
            return Refusal(Diagnostic::new(
                Blame::BadInput,
                format!("The upload took longer than {:?}.", config.upload),
                "upload",
                "Try again.",
            ))
            .into_response();
        }
    };
    match submit(&shared, board, upload, peer, room).await {
        Ok(accepted) => {
            let location = [(header::LOCATION, accepted.links.run.clone())];
            (StatusCode::ACCEPTED, location, Json(accepted)).into_response()
        }
        Err(problem) => Refusal(problem).into_response(),
    }
}

async fn submit(
    shared: &Shared,
    board: tilewright_board::Board,
    upload: Upload<Part>,
    peer: Peer,
    room: Room,
) -> Result<Accepted, Diagnostic> {
    let admission = shared.runs().admit(peer, room)?;
    let inner = shared.clone();
    let looking = shared.looking().await;
    let run = tokio::task::spawn_blocking(move || {
        super::check::check(&inner, &board, &upload)?;
        inner.runs().submit(admission, &board.id, upload)
    })
    .await
    .unwrap_or_else(|_| Err(Diagnostic::ours("Reading the upload ended by a panic.", "upload")))?;
    drop(looking);
    Ok(Accepted { id: run.id().to_owned(), links: Links::of(run.id()), kept: shared.kept() })
}

fn find_board(shared: &Shared, id: Option<&str>) -> Result<tilewright_board::Board, Diagnostic> {
    let known: Vec<&str> = shared.boards().iter().map(|board| board.id.as_str()).collect();
    let wrong = |error: String| {
        Diagnostic::new(
            Blame::BadInput,
            error,
            "board",
            format!("Known boards: {}.", known.join(", ")),
        )
    };
    let id = id.ok_or_else(|| wrong("The query has no `board`.".to_owned()))?;
    let board = shared.boards().iter().find(|board| board.id == id);
    board.cloned().ok_or_else(|| wrong(format!("There is no board '{id}'.")))
}

async fn drain(body: Body) {
    let mut rest = body.into_data_stream();
    let reading = async { while let Some(Ok(_)) = rest.next().await {} };
    let _ = tokio::time::timeout(DRAIN, reading).await;
}

async fn read(
    request: Request,
    config: &Config,
    room: &mut Room,
) -> Result<Upload<Part>, Diagnostic> {
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|error| malformed(&error.body_text()))?;
    let mut upload = Upload::default();
    let read = read_parts(&mut parts, &mut upload, config, room).await;
    if read.is_err() {
        let rest = async {
            while let Ok(Some(mut part)) = parts.next_field().await {
                while let Ok(Some(_)) = part.chunk().await {}
            }
        };
        let _ = tokio::time::timeout(DRAIN, rest).await;
    }
    read?;
    let given = [upload.image.is_some(), upload.model.is_some(), upload.zoo.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        return Err(malformed("One of `image`, `model` and `zoo` must be there, and no other."));
    }
    if upload.model.is_none() && !upload.data.is_empty() {
        return Err(malformed("`data` belongs to a `model`."));
    }
    if upload.image.is_none() && (upload.external_flash.is_some() || upload.card.is_some()) {
        return Err(malformed("`external_flash` and `card` belong to an `image`."));
    }
    if upload.image.is_some() && upload.samples.is_some() {
        return Err(malformed("`samples` belong to a `model` or to the `zoo`."));
    }
    let scales_are_given =
        upload.image.is_some() || (upload.zoo.is_some() && upload.samples.is_none());
    for (part, is_there) in
        [("calibration", upload.calibration.is_some()), ("pixels", upload.pixels.is_some())]
    {
        if is_there && scales_are_given {
            return Err(malformed(&format!(
                "`{part}` says how to use `samples`, but nothing is quantised."
            )));
        }
    }
    Ok(upload)
}

async fn read_parts(
    parts: &mut Multipart,
    upload: &mut Upload<Part>,
    config: &Config,
    room: &mut Room,
) -> Result<(), Diagnostic> {
    let spool = Spool::default();
    let mut count = 0;
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        count += 1;
        if count > MOST_PARTS {
            return Err(malformed("There are too many parts."));
        }
        let name = part.name().unwrap_or("").to_owned();
        let file = part.file_name().map(str::to_owned);
        let slot = match name.as_str() {
            "image" => &mut upload.image,
            "external_flash" => &mut upload.external_flash,
            "card" => &mut upload.card,
            "model" => {
                upload.model_name = file;
                &mut upload.model
            }
            "samples" => &mut upload.samples,
            "input" => &mut upload.input,
            "data" => {
                let Some(file) = file.filter(|file| !file.is_empty()) else {
                    return Err(malformed("A part `data` has no file name."));
                };
                let data = stored(part, "data", config.file_bytes, &spool, room).await?;
                upload.data.push((file, data));
                continue;
            }
            "zoo" => {
                let name = bytes(part, "zoo", 128, room).await?;
                upload.zoo = Some(String::from_utf8_lossy(&name).into_owned());
                continue;
            }
            "calibration" => {
                let text = bytes(part, "calibration", 32, room).await?;
                upload.calibration = Some(rule(text)?);
                continue;
            }
            "pixels" => {
                let text = bytes(part, "pixels", 128, room).await?;
                upload.pixels = Some(String::from_utf8_lossy(&text).into_owned());
                continue;
            }
            "dim" => {
                let text = bytes(part, "dim", 256, room).await?;
                upload.dims.push(dimension(&text)?);
                continue;
            }
            "watch" => {
                let watch = bytes(part, "watch", 16, room).await?;
                if watch != b"layers" {
                    return Err(malformed("`watch` can only be `layers`."));
                }
                upload.layers = true;
                continue;
            }
            "mode" => {
                let text = bytes(part, "mode", 16, room).await?;
                let text = String::from_utf8_lossy(&text).into_owned();
                let wrong = |error: UnknownMode| malformed(&format!("`mode`: {error}."));
                upload.mode = text.parse().map_err(wrong)?;
                continue;
            }
            "limit_us" => {
                let text = bytes(part, "limit_us", 16, room).await?;
                let limit = String::from_utf8_lossy(&text).parse().ok();
                let limit = limit.filter(|limit| (1..ENTRY).contains(limit));
                let wrong = || malformed("`limit_us` is a number of microseconds, from 1 on.");
                upload.limit_us = Some(limit.ok_or_else(wrong)?);
                continue;
            }
            other => {
                return Err(malformed(&format!(
                    "There is a part '{other}'; known are image, external_flash, card, \
                     model, data, zoo, samples, calibration, pixels, input, dim, watch, mode, \
                     limit_us."
                )));
            }
        };
        if slot.is_some() {
            return Err(malformed(&format!("The part '{name}' is there twice.")));
        }
        let limit = match name.as_str() {
            "input" => config.input_bytes,
            "external_flash" | "card" => config.store_bytes,
            _ => config.file_bytes,
        };
        *slot = Some(stored(part, &name, limit, &spool, room).await?);
    }
    Ok(())
}

fn rule(text: Vec<u8>) -> Result<String, Diagnostic> {
    let text = String::from_utf8(text).unwrap_or_default();
    let wrong = |error: UnknownRule| malformed(&format!("`calibration`: {error}."));
    text.parse::<RangeRule>().map_err(wrong)?;
    Ok(text)
}

fn dimension(text: &[u8]) -> Result<(String, usize), Diagnostic> {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| {
        let (name, size) = text.split_once('=')?;
        let size = size.parse().ok().filter(|size| *size > 0)?;
        Some((name.to_owned(), size))
    });
    parsed.ok_or_else(|| malformed("`dim` is NAME=SIZE with a size of at least 1."))
}

/// The bytes of a short part.
async fn bytes(
    part: Field<'_>,
    name: &str,
    limit: usize,
    room: &mut Room,
) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let keep = |chunk: &[u8]| {
        bytes.extend_from_slice(chunk);
        Ok(())
    };
    each_chunk(part, name, limit, room, keep).await?;
    Ok(bytes)
}

/// A part, put where uploads lie.
async fn stored(
    part: Field<'_>,
    name: &str,
    limit: usize,
    spool: &Spool,
    room: &mut Room,
) -> Result<Part, Diagnostic> {
    let full = |error| {
        Diagnostic::ours(format!("The upload cannot be stored: {error}."), "temporary files")
    };
    let mut stored = spool.part().map_err(full)?;
    each_chunk(part, name, limit, room, |chunk| stored.write(chunk).map_err(full)).await?;
    Ok(stored)
}

async fn each_chunk(
    mut part: Field<'_>,
    name: &str,
    limit: usize,
    room: &mut Room,
    mut keep: impl FnMut(&[u8]) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let mut length = 0;
    while let Some(chunk) = part.chunk().await.map_err(broken)? {
        length += chunk.len();
        if length > limit {
            return Err(Diagnostic::new(
                Blame::TooLarge,
                format!("The part '{name}' is longer than the {limit} bytes that are taken."),
                name,
                "Upload something smaller, or use the command line, which has larger limits.",
            ));
        }
        room.hold(chunk.len())?;
        keep(&chunk)?;
    }
    Ok(())
}

fn broken(error: MultipartError) -> Diagnostic {
    malformed(&error.body_text())
}

fn malformed(error: &str) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        sentence(error),
        "upload",
        "Send multipart/form-data with the parts that /api/openapi.json describes.",
    )
}
