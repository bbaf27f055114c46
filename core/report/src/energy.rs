//! Energy of a run, from its timeline and what board and card draw in each state.
//!
//! Sources measured whole boards; none tells core, controller, DMA and memory chips apart. So a layer draws what the board drew in
//! its case (internal, external, overlaid), and a card's power comes on top while it moves bytes. No source, no energy.

use serde::{Deserialize, Serialize};
use tilewright_board::{Board, Card, Draw};
use tilewright_plan::{Cycles, LaneKind, Micros, Space};

use crate::timeline::{SliceKind, Timeline};
use crate::traffic::{Traffic, Way};

/// What a board does for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The core works on operands in internal memory.
    Inside,
    /// The core works on operands where they lie in external memory.
    Outside,
    /// The core works on operands that DMA brings from external memory.
    Brought,
    /// The core waits for the card. No source says that it draws less then, so that it is taken to
    /// draw as much as inside.
    Waiting,
    /// The card reads or writes: what it draws beside the board.
    Card,
}

impl State {
    const ALL: [Self; 5] = [Self::Inside, Self::Outside, Self::Brought, Self::Waiting, Self::Card];

    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Inside => "operands in internal memory",
            Self::Outside => "operands in external memory",
            Self::Brought => "operands brought by DMA",
            Self::Waiting => "waiting for the card, taken as computing",
            Self::Card => "the card, beside the board",
        }
    }
}

/// Energy of a state, of all frames (modelled).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateEnergy {
    /// The state.
    pub state: State,
    /// How long.
    pub time_us: Micros,
    /// Least and most power, in milliwatts.
    pub power_mw: [u32; 2],
    /// Least and most energy.
    pub energy_uj: [f64; 2],
    /// Where the power comes from.
    pub source: String,
}

/// Energy of a run (modelled).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Least and most energy of one frame.
    pub frame_uj: [f64; 2],
    /// Least and most mean power while frames are computed, in milliwatts.
    pub mean_mw: [f64; 2],
    /// The states that the board was in.
    pub states: Vec<StateEnergy>,
}

/// Why no energy is told: no source says what something draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoPower {
    /// The board or the card.
    pub of: String,
    /// The state whose power is missing.
    pub state: State,
}

impl std::fmt::Display for NoPower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { of, state } = self;
        write!(f, "no source says what {of} draws: {}", state.words())
    }
}

impl Energy {
    /// The energy of what `timeline` shows, of `frames` frames, predicted or emulated; `traffic` says
    /// where each layer's operands lie. Frames of no time take no energy.
    ///
    /// # Errors
    /// [`NoPower`] names the first state whose power no source gives.
    pub fn of(
        timeline: &Timeline,
        traffic: &Traffic,
        board: &Board,
        card: Option<&Card>,
        frames: u32,
    ) -> Result<Self, NoPower> {
        let clock = timeline.clock_hz;
        let times = times(timeline, traffic);
        let mut states = Vec::new();
        for (state, cycles) in State::ALL.into_iter().zip(times) {
            if cycles == Cycles(0) {
                continue;
            }
            let draw = draw(state, board, card)?;
            let time_us = cycles.at(clock);
            let power_mw = [draw.least_mw, draw.most_mw];
            // A milliwatt for a microsecond is a nanojoule.
            let energy_uj = power_mw.map(|mw| f64::from(mw) * time_us.0 / 1e3);
            states.push(StateEnergy {
                state,
                time_us,
                power_mw,
                energy_uj,
                source: draw.source.clone(),
            });
        }
        let sum = |side: usize| states.iter().map(|state| state.energy_uj[side]).sum::<f64>();
        let all = [sum(0), sum(1)];
        let latency = timeline.end().since(Default::default()).at(clock).0;
        Ok(Self {
            frame_uj: all.map(|energy| energy / f64::from(frames.max(1))),
            mean_mw: all.map(|energy| if latency > 0.0 { energy * 1e3 / latency } else { 0.0 }),
            states,
        })
    }

    /// The middle of the range of a frame's energy.
    #[must_use]
    pub fn middle_uj(&self) -> f64 {
        f64::midpoint(self.frame_uj[0], self.frame_uj[1])
    }
}

/// Cycles in each state, in the order of [`State::ALL`].
fn times(timeline: &Timeline, traffic: &Traffic) -> [Cycles; 5] {
    let mut times = [Cycles(0); 5];
    let lane = |number: u8| timeline.lanes.get(usize::from(number)).copied();
    let mut core = Cycles(0);
    for slice in &timeline.slices {
        let cycles = slice.end.since(slice.start);
        let state = match (lane(slice.lane), slice.kind) {
            (Some(LaneKind::Card), SliceKind::Copy) => State::Card,
            (_, _) if slice.lane != 0 => continue,
            (_, SliceKind::Stall) if slice.waits_for.and_then(lane) == Some(LaneKind::Card) => {
                State::Waiting
            }
            _ => of_layer(traffic, usize::from(slice.layer)),
        };
        if state != State::Card {
            core += cycles;
        }
        times[state as usize] += cycles;
    }
    // What the core does between kernels, or before and behind all of them.
    let rest = Cycles(timeline.end().since(Default::default()).0.saturating_sub(core.0));
    let uses_card = timeline.lanes.contains(&LaneKind::Card);
    let state = if uses_card { State::Waiting } else { State::Inside };
    times[state as usize] += rest;
    times
}

/// The least that sources say a board draws in any state: no run of some time takes less energy. Nothing if none says what
/// it draws.
#[must_use]
pub fn least_power_mw(board: &Board) -> Option<f64> {
    let power = board.power.as_ref()?;
    let others = power.outside.iter().chain(&power.brought);
    let middle = |draw: &Draw| f64::midpoint(draw.least_mw.into(), draw.most_mw.into());
    Some(others.map(middle).fold(middle(&power.inside), f64::min))
}

/// Where the operands of a layer lie.
fn of_layer(traffic: &Traffic, layer: usize) -> State {
    let outside = |space| matches!(space, Space::ExternalRam | Space::ExternalFlash);
    let moves = |way: Way| {
        let tiers = traffic.tiers.iter().filter(|tier| tier.way == way && outside(tier.space));
        tiers.into_iter().any(|tier| tier.bytes.get(layer).is_some_and(|bytes| *bytes > 0))
    };
    match (moves(Way::Copied), moves(Way::Direct)) {
        (true, _) => State::Brought,
        (false, true) => State::Outside,
        (false, false) => State::Inside,
    }
}

fn draw<'d>(state: State, board: &'d Board, card: Option<&'d Card>) -> Result<&'d Draw, NoPower> {
    let power = board.power.as_ref();
    let (draw, of) = match state {
        State::Inside | State::Waiting => (power.map(|power| &power.inside), &board.name),
        State::Outside => (power.and_then(|power| power.outside.as_ref()), &board.name),
        State::Brought => (power.and_then(|power| power.brought.as_ref()), &board.name),
        State::Card => match card {
            Some(card) => (card.power.as_ref(), &card.name),
            None => (None, &board.name),
        },
    };
    draw.ok_or_else(|| NoPower { of: of.clone(), state })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Kind;
    use crate::timeline::Slice;
    use crate::traffic::Tier;
    use tilewright_plan::{CyclePoint, Hertz};

    /// A millisecond of the core on layer 0, then as long on layer 1 for which it waited as long.
    fn run(other: LaneKind) -> Timeline {
        let slice = |lane, kind, layer, start: u64, end: u64| Slice {
            lane,
            kind,
            waits_for: (kind == SliceKind::Stall).then_some(1),
            layer,
            step: 0,
            frame: 0,
            start: CyclePoint(start * 1000),
            end: CyclePoint(end * 1000),
            instructions: 0,
            bytes: 512,
        };
        Timeline {
            clock_hz: Hertz(1_000_000),
            instructions_kind: Kind::Counted,
            cycles_kind: Kind::Modelled,
            lanes: vec![LaneKind::Core, other],
            slices: vec![
                slice(0, SliceKind::Compute, 0, 0, 1),
                slice(0, SliceKind::Stall, 1, 1, 2),
                slice(0, SliceKind::Compute, 1, 2, 3),
                slice(1, SliceKind::Copy, 1, 0, 2),
            ],
        }
    }

    fn traffic(way: Way) -> Traffic {
        let tier = Tier {
            space: Space::ExternalRam,
            way,
            bytes_per_second: None,
            bytes: vec![0, 512],
            cycles: vec![Cycles(0); 2],
        };
        Traffic { tiers: vec![tier], ..Traffic::default() }
    }

    fn board(id: &str) -> Board {
        tilewright_board::find(id).unwrap()
    }

    fn states(energy: &Energy) -> Vec<(State, f64)> {
        energy.states.iter().map(|state| (state.state, state.time_us.0)).collect()
    }

    #[test]
    fn a_layer_draws_what_its_operands_place_says() {
        let board = board("stm32f746g-disco");
        let of = |way| Energy::of(&run(LaneKind::Dma), &traffic(way), &board, None, 2).unwrap();
        let brought = of(Way::Copied);
        assert_eq!(states(&brought), [(State::Inside, 1000.0), (State::Brought, 2000.0)]);
        // 645 mW for a millisecond and 798 mW for two, of two frames.
        assert_eq!(brought.frame_uj, [(645.0 + 2.0 * 798.0) / 2.0; 2]);
        assert!((brought.mean_mw[0] - 747.0).abs() < 1e-9);
        assert_eq!(states(&of(Way::Direct))[1], (State::Outside, 2000.0));
    }

    #[test]
    fn a_card_draws_beside_the_board_while_it_moves_bytes() {
        let board = board("stm32f746g-disco");
        let card = tilewright_board::find_card("sd-class10").unwrap();
        let of = |card| Energy::of(&run(LaneKind::Card), &Traffic::default(), &board, card, 1);
        let energy = of(Some(&card)).unwrap();
        let expected = [(State::Inside, 2000.0), (State::Waiting, 1000.0), (State::Card, 2000.0)];
        assert_eq!(states(&energy), expected);
        let power = card.power.as_ref().unwrap();
        let most = 3.0 * 645.0 + 2.0 * f64::from(power.most_mw);
        assert!((energy.frame_uj[1] - most).abs() < 1e-9);
        assert_eq!(of(None).unwrap_err().state, State::Card);
    }

    #[test]
    fn a_board_without_a_source_has_no_energy() {
        let board = board("nucleo-f767zi");
        let error =
            Energy::of(&run(LaneKind::Dma), &Traffic::default(), &board, None, 1).unwrap_err();
        assert!(error.to_string().contains("no source"), "{error}");
    }

    /// Table 4.5 of the thesis: power times latency, with its own latencies.
    #[test]
    fn the_thesis_energies_follow_from_its_power_and_latency() {
        let rows = [
            ("paper-tinyops-l552", [855, 2963, 977], [56.0, 607.0, 137.0]),
            ("paper-tinyops-f469", [1089, 2411, 1131], [316.0, 1049.0, 430.0]),
            ("paper-tinyops-f746", [685, 1004, 772], [442.0, 773.0, 616.0]),
        ];
        for (id, milliseconds, millijoules) in rows {
            let board = board(id);
            let traffics = [Traffic::default(), traffic(Way::Direct), traffic(Way::Copied)];
            for ((time, energy), traffic) in milliseconds.iter().zip(millijoules).zip(traffics) {
                let mut timeline = run(LaneKind::Dma);
                timeline.slices.truncate(1);
                timeline.slices[0].layer = 1;
                timeline.slices[0].end = CyclePoint(time * 1000);
                let made = Energy::of(&timeline, &traffic, &board, None, 1).unwrap();
                assert!((made.middle_uj() / 1e3 - energy).abs() <= 1.0, "{id}: {made:?}");
            }
        }
    }

    /// Section 5.5 of SwapNN: 0.07 Wh in 178 s within the core, 0.10 Wh in 213 s with the card always
    /// busy beside it.
    #[test]
    fn swapnns_worst_case_is_within_the_ranges() {
        let board = board("paper-swapnn-512k");
        let card = tilewright_board::find_card("paper-swapnn").unwrap();
        let mut timeline = run(LaneKind::Card);
        timeline.slices.retain(|slice| slice.kind != SliceKind::Stall);
        timeline.slices.truncate(2);
        timeline.slices[0].end = CyclePoint(178_000_000);
        timeline.slices[1].start = timeline.slices[0].end;
        timeline.slices[1].end = timeline.slices[0].end;
        let within = |energy: &Energy, watt_hours: f64| {
            let [least, most] = energy.frame_uj.map(|energy| energy / 3.6e9);
            assert!(least <= watt_hours && watt_hours <= most, "{least} {watt_hours} {most}");
        };
        within(&Energy::of(&timeline, &Traffic::default(), &board, None, 1).unwrap(), 0.07);
        let mut busy = run(LaneKind::Card);
        busy.slices.retain(|slice| slice.kind == SliceKind::Copy);
        busy.slices[0].end = CyclePoint(213_000_000);
        let busy = Energy::of(&busy, &Traffic::default(), &board, Some(&card), 1).unwrap();
        within(&busy, 0.10);
    }
}
