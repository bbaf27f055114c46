//! Sound of any format that the browser knows, as WAV files; and the microphone.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    AudioBuffer, Blob, BlobEvent, MediaRecorder, MediaStream, MediaStreamConstraints,
    OfflineAudioContext,
};
use yew::prelude::*;

/// Samples in a second that models take: the browser decodes to it.
const RATE: u32 = 16_000;
/// Seconds of a sound that are handed on, and of a recording.
const MOST_SECONDS: u32 = 60;
const MOST_RECORDED: u32 = 10;

/// The first minute of a sound as a WAV file of one channel with 16 bits.
///
/// # Errors
/// If the browser does not know the format, or the file is broken.
pub async fn as_wav(file: &Blob) -> Result<Uint8Array, JsValue> {
    let bytes = JsFuture::from(file.array_buffer()).await?.dyn_into()?;
    let context = OfflineAudioContext::new_with_number_of_channels_and_length_and_sample_rate(
        1,
        1,
        RATE as f32,
    )?;
    let sound: AudioBuffer =
        JsFuture::from(context.decode_audio_data(&bytes)?).await?.dyn_into()?;
    // Hours may come out of a small file: no more than is used enters this program's memory.
    let count = (sound.length() as usize).min((RATE * MOST_SECONDS) as usize);
    let channels = (0..sound.number_of_channels())
        .map(|channel| {
            let mut samples = vec![0.0f32; count];
            sound.copy_from_channel(&mut samples, channel as i32)?;
            Ok(samples)
        })
        .collect::<Result<Vec<_>, JsValue>>()?;
    let mean = |at: usize| {
        let sum: f32 = channels.iter().filter_map(|channel| channel.get(at)).sum();
        ((sum / channels.len().max(1) as f32) * 32_767.0).clamp(-32_768.0, 32_767.0) as i16
    };
    Ok(Uint8Array::from(wav((0..count).map(mean), count as u32).as_slice()))
}

fn wav(samples: impl Iterator<Item = i16>, count: u32) -> Vec<u8> {
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + 2 * count).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(RATE.to_le_bytes());
    bytes.extend((2 * RATE).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend((2 * count).to_le_bytes());
    bytes.extend(samples.flat_map(i16::to_le_bytes));
    bytes
}

#[derive(PartialEq, Properties)]
pub struct Props {
    pub is_disabled: bool,
    /// A sound's name, and its bytes as a WAV file.
    pub on_sound: Callback<(String, Uint8Array)>,
}

/// What the microphone does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Recording,
    Refused,
}

/// A button that records.
#[component]
pub fn Microphone(props: &Props) -> Html {
    let phase = use_state(|| Phase::Idle);
    let recorder = use_mut_ref(|| None::<Recording>);
    {
        // What records ends with the button.
        let recorder = recorder.clone();
        use_effect_with((), move |()| move || drop(recorder.take()));
    }
    let begin = {
        let (phase, recorder, on_sound) = (phase.clone(), recorder.clone(), props.on_sound.clone());
        Callback::from(move |_: MouseEvent| {
            let (phase, recorder, on_sound) = (phase.clone(), recorder.clone(), on_sound.clone());
            spawn_local(async move {
                let ended = phase.clone();
                let told = Callback::from(move |sound: Option<Uint8Array>| {
                    ended.set(if sound.is_some() { Phase::Idle } else { Phase::Refused });
                    if let Some(bytes) = sound {
                        on_sound.emit(("microphone.wav".to_owned(), bytes));
                    }
                });
                match Recording::begin(told).await {
                    Ok(recording) => {
                        *recorder.borrow_mut() = Some(recording);
                        phase.set(Phase::Recording);
                    }
                    Err(_) => phase.set(Phase::Refused),
                }
            });
        })
    };
    let stop = {
        let recorder = recorder.clone();
        Callback::from(move |_: MouseEvent| {
            if let Some(recording) = &*recorder.borrow() {
                recording.stop();
            }
        })
    };
    html! {
        <>
            if *phase == Phase::Recording {
                <button type="button" class="button" data-testid="microphone-stop" onclick={stop}>
                    { "Stop recording" }
                </button>
                <span class="muted detail" role="status">{ format!("Recording, at most {MOST_RECORDED} s; it stays in this page.") }</span>
            } else {
                <button type="button" class="button" data-testid="input-microphone" disabled={props.is_disabled}
                    title="Record the input with the microphone; it stays in this page" onclick={begin}>
                    { "Microphone" }
                </button>
            }
            if *phase == Phase::Refused {
                <p class="note" data-testid="no-microphone">
                    { "There is no microphone, or this page may not use it. Allow it in the browser, or give a sound as a file." }
                </p>
            }
        </>
    }
}

/// A recording under way. It ends when it is dropped.
struct Recording {
    recorder: MediaRecorder,
    stream: MediaStream,
    /// Whether what it recorded is wanted.
    is_wanted: Rc<Cell<bool>>,
    _listeners: [Closure<dyn FnMut(JsValue)>; 2],
    _limit: gloo::timers::callback::Timeout,
}

impl Recording {
    async fn begin(told: Callback<Option<Uint8Array>>) -> Result<Self, JsValue> {
        let devices = web_sys::window().ok_or(JsValue::NULL)?.navigator().media_devices()?;
        let wanted = MediaStreamConstraints::new();
        wanted.set_audio(&true.into());
        let stream = JsFuture::from(devices.get_user_media_with_constraints(&wanted)?).await?;
        let stream: MediaStream = stream.dyn_into()?;
        let recorder = MediaRecorder::new_with_media_stream(&stream)?;
        let parts = Rc::new(RefCell::new(Vec::<Blob>::new()));
        let is_wanted = Rc::new(Cell::new(true));
        let on_data = {
            let parts = parts.clone();
            Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
                let part = event.dyn_into::<BlobEvent>().ok().and_then(|event| event.data());
                parts.borrow_mut().extend(part);
            })
        };
        let on_stop = {
            let (is_wanted, stream) = (is_wanted.clone(), stream.clone());
            Closure::<dyn FnMut(JsValue)>::new(move |_: JsValue| {
                super::picture_input::end(&stream);
                if !is_wanted.get() {
                    return;
                }
                let (parts, told) = (parts.take(), told.clone());
                spawn_local(async move {
                    let parts: Array = parts.iter().collect();
                    let sound = match Blob::new_with_blob_sequence(&parts) {
                        Ok(blob) => as_wav(&blob).await.ok(),
                        Err(_) => None,
                    };
                    told.emit(sound);
                });
            })
        };
        recorder.set_ondataavailable(Some(on_data.as_ref().unchecked_ref()));
        recorder.set_onstop(Some(on_stop.as_ref().unchecked_ref()));
        recorder.start()?;
        let limited = recorder.clone();
        let limit = gloo::timers::callback::Timeout::new(MOST_RECORDED * 1_000, move || {
            let _ = limited.stop();
        });
        Ok(Self { recorder, stream, is_wanted, _listeners: [on_data, on_stop], _limit: limit })
    }

    fn stop(&self) {
        let _ = self.recorder.stop();
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.is_wanted.set(false);
        self.recorder.set_ondataavailable(None);
        self.recorder.set_onstop(None);
        let _ = self.recorder.stop();
        super::picture_input::end(&self.stream);
    }
}
