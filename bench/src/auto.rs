//! Whether `auto` keeps its promises: under no budget is another strategy faster, and more memory never makes a
//! slower plan. With the time that planning takes.

use std::time::{Duration, Instant};

use clap::Args;
use fastrand::Rng;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_planner::{Objective, Options as Choices, Planned, Strategy};

/// What is planned.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Networks of the zoo, or files; as many as are given
    #[arg(value_name = "NETWORK", default_values = ["ds-cnn", "resnet8", "vww", "mobilenet-v2-w0.35-r96"])]
    networks: Vec<String>,
    /// Boards; may be repeated
    #[arg(long = "board", default_values = ["stm32f746g-disco", "stm32f469i-disco", "nucleo-f767zi"])]
    boards: Vec<String>,
    /// Budgets between an eighth of what `resident` needs and a quarter more than that, drawn from as many equal parts
    #[arg(long, default_value_t = 16)]
    budgets: u32,
    /// What budgets are drawn with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Do not plan by the other strategies
    #[arg(long)]
    alone: bool,
}

/// Counts of broken promises.
#[derive(Default)]
struct Broken {
    worse: u32,
    slower: u32,
    plans: u32,
    time: Duration,
}

/// Plans and says where a promise is broken.
///
/// # Errors
/// If a network or a board does not exist, or a promise is broken.
pub fn auto(options: &Options) -> Result<(), String> {
    let mut broken = Broken::default();
    for network in &options.networks {
        let built = tilewright_zoo::network(network).map_err(|error| error.to_string())?;
        let model = built.int8().map_err(|error| error.to_string())?;
        for board in &options.boards {
            let board = tilewright_board::find(board).map_err(|error| error.to_string())?;
            on_board(&model, &board, options, &mut broken);
        }
    }
    let Broken { worse, slower, plans, time } = broken;
    println!(
        "{plans} plans by auto in {:.1} s: {worse} slower than another strategy, {slower} slower than with less memory",
        time.as_secs_f64()
    );
    if worse + slower == 0 { Ok(()) } else { Err("promises of auto are broken".to_owned()) }
}

fn on_board(model: &Model, board: &Board, options: &Options, broken: &mut Broken) {
    let Ok(resident) = planned(model, board, Strategy::Resident, Choices::default()) else {
        return;
    };
    let needed = resident.report.peak_sram_bytes.0 as f64;
    let (least, most) = (needed / 8.0, needed * 1.25);
    let mut best_with_less: Option<(u64, f64)> = None;
    let started = broken.time;
    let mut rng = Rng::with_seed(options.seed);
    for number in 0..options.budgets {
        let part = (f64::from(number) + rng.f64()) / f64::from(options.budgets);
        let sram = Bytes((least * (most / least).powf(part)) as u64);
        if sram > board.arena() {
            break;
        }
        let choices = Choices { sram: Some(sram), ..Choices::default() };
        let start = Instant::now();
        let auto = planned(model, board, Strategy::Auto, choices.clone());
        broken.time += start.elapsed();
        broken.plans += 1;
        let what = format!("{} {} {} B", model.name, board.id, sram.0);
        let ours = auto.as_ref().ok().and_then(time);
        if let Some((less, before)) = best_with_less
            && ours.is_none_or(|ours| ours > before)
        {
            broken.slower += 1;
            println!("{what}: {ours:?} µs, with {less} B {before} µs");
        }
        if let Some(ours) = ours.filter(|ours| best_with_less.is_none_or(|(_, best)| *ours < best))
        {
            best_with_less = Some((sram.0, ours));
        }
        for strategy in Strategy::ALL.into_iter().filter(|_| !options.alone) {
            let other = planned(model, board, strategy, choices.clone()).ok();
            let Some(other) = other.as_ref().and_then(time) else { continue };
            if ours.is_none_or(|ours| ours > other) {
                broken.worse += 1;
                println!("{what}: {ours:?} µs, by {strategy} {other} µs");
            }
        }
    }
    println!("{} {}: {:.2} s", model.name, board.id, (broken.time - started).as_secs_f64());
}

fn planned(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    choices: Choices,
) -> Result<Planned, String> {
    let choices = Choices { objective: Objective::Latency, ..choices };
    tilewright_planner::plan(model, board, strategy, &choices).map_err(|error| error.to_string())
}

/// Microseconds of a plan that fits and runs.
fn time(planned: &Planned) -> Option<f64> {
    planned.report.latency_us.filter(|_| planned.report.fits).map(|time| time.0)
}
