//! Emulation speed of a job's compute steps: each as it runs in the job on Unicorn, once more in bare Unicorn, with
//! the same registers and memories, without hooks, costs and waits; and on the own core.

use std::cell::Cell;
use std::cmp::Reverse;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tilewright_board::{Board, Memory, MemoryKind};
use tilewright_protocol::{Engine, Job, Response};
use unicorn_engine::{Arch, Mode as CpuMode, Prot, RegisterARM, Unicorn, uc_error};

use crate::engine::{self, Core, Uc, failed};
use crate::{Firmware, JobError};

/// The job is run this often; of each step the best counts, for a machine may be busy.
const TIMES: usize = 3;

/// What a step took.
#[derive(Clone, Copy)]
struct Took {
    instructions: u64,
    hooked: Duration,
    bare: Duration,
}

/// Runs a job's compute steps, and gives their speeds as JSON: millions of instructions a second.
///
/// # Errors
/// If the job cannot be run.
pub fn bench(job: &Job) -> Result<String, JobError> {
    let board = tilewright_board::find(&job.board)?;
    let mut steps: Vec<Took> = Vec::new();
    for _ in 0..TIMES {
        let found = run(&board, job)?;
        if steps.is_empty() {
            steps = found;
            continue;
        }
        for (best, found) in steps.iter_mut().zip(found) {
            best.hooked = best.hooked.min(found.hooked);
            best.bare = best.bare.min(found.bare);
        }
    }
    let own = (0..TIMES).map(|_| own(job)).collect::<Result<Vec<_>, _>>()?;
    let own = own.into_iter().max().unwrap_or(0);
    let instructions: u64 = steps.iter().map(|step| step.instructions).sum();
    let speed = |of: fn(&Took) -> Duration| {
        let micros = steps.iter().map(of).sum::<Duration>().as_micros().max(1);
        u128::from(instructions) / micros
    };
    Ok(serde_json::json!({
        "board": board.id,
        "steps": steps.len(),
        "instructions": instructions,
        "hooked_million_per_second": speed(|step| step.hooked) as u64,
        "bare_million_per_second": speed(|step| step.bare) as u64,
        "own_million_per_second": own,
        "engine": crate::name(Engine::Unicorn),
    })
    .to_string())
}

/// Millions of instructions a second of the own core's compute steps. What is dispatched between two steps is part of
/// the second's time.
fn own(job: &Job) -> Result<u64, JobError> {
    let sum = Rc::new(Cell::new((0, Duration::ZERO)));
    let (steps, mut before) = (Rc::clone(&sum), None);
    let sink = move |response| {
        if let Response::Step(step) = response {
            let now = Instant::now();
            if let Some(before) = before.replace(now) {
                let (instructions, time) = steps.get();
                steps.set((instructions + step.instructions, time + now.duration_since(before)));
            }
        }
    };
    crate::run_on(Engine::Own, job, sink)?;
    let (instructions, time) = sum.get();
    Ok(instructions / u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1))
}

fn run(board: &Board, job: &Job) -> Result<Vec<Took>, JobError> {
    let firmware = Firmware::from_elf(&job.elf)?;
    let compute = firmware.compute;
    let mut bare = bare(board, &firmware).map_err(failed)?;
    let machine = crate::prepare(board.clone(), firmware, job, |_| {})?;
    let mut uc = engine::set_up(machine).map_err(failed)?;
    let start = tilewright_machine::reset(&mut Core(&mut uc))?;
    match compute.map(|address| address & !1) {
        Some(compute) => steps(&mut uc, &mut bare, board, start, compute).map_err(failed),
        None => Ok(Vec::new()),
    }
}

fn steps(
    uc: &mut Uc<'_>,
    bare: &mut Unicorn<'_, ()>,
    board: &Board,
    mut pc: u32,
    compute: u32,
) -> Result<Vec<Took>, uc_error> {
    let mut steps = Vec::new();
    // Where a block was translated to begin before, Unicorn would not stop: only those two are made anew.
    let forget = |uc: &mut Uc<'_>, address: u32| {
        uc.ctl_remove_cache(u64::from(address), u64::from(address) + 2)
    };
    loop {
        forget(uc, compute)?;
        if engine::execute_until(uc, pc, compute).is_some() {
            break;
        }
        let link = uc.reg_read(RegisterARM::LR)? as u32 & !1;
        forget(uc, link)?;
        copy(uc, bare, board)?;
        let before = uc.get_data().instructions();
        let start = Instant::now();
        let end = engine::execute_until(uc, compute, link);
        let hooked = start.elapsed();
        if end.is_some() {
            break;
        }
        let instructions = uc.get_data().instructions() - before;
        let start = Instant::now();
        bare.emu_start(u64::from(compute | 1), u64::from(link), 0, 0)?;
        steps.push(Took { instructions, hooked, bare: start.elapsed() });
        pc = engine::pc(uc);
    }
    Ok(steps)
}

/// Unicorn with the board's memories alone.
fn bare<'a>(board: &Board, firmware: &Firmware) -> Result<Unicorn<'a, ()>, uc_error> {
    let mut uc = Unicorn::new(Arch::ARM, CpuMode::THUMB)?;
    uc.ctl_set_cpu_model(engine::cpu_model(board.core.kind) as i32)?;
    engine::limit_code_buffer(&uc)?;
    // From the largest on, as `maps` does and says why.
    let mut memories: Vec<&Memory> = board.memory.iter().collect();
    memories.sort_by_key(|memory| Reverse(memory.bytes));
    for memory in memories {
        let Some(address) = memory.address else { continue };
        let allowed = match memory.kind {
            MemoryKind::Flash => Prot::READ | Prot::EXEC,
            _ => Prot::ALL,
        };
        uc.mem_map(u64::from(address), memory.bytes.0, allowed)?;
    }
    for (address, bytes) in &firmware.segments {
        uc.mem_write(u64::from(*address), bytes)?;
    }
    Ok(uc)
}

/// Brings registers and what the core may have written.
fn copy(from: &Uc<'_>, to: &mut Unicorn<'_, ()>, board: &Board) -> Result<(), uc_error> {
    for memory in &board.memory {
        let Some(address) = memory.address.filter(|_| memory.kind != MemoryKind::Flash) else {
            continue;
        };
        let mut bytes = vec![0; memory.bytes.0 as usize];
        if from.get_data().memories.read(address, &mut bytes) {
            to.mem_write(u64::from(address), &bytes)?;
        }
    }
    let general = RegisterARM::R0 as i32..=RegisterARM::R12 as i32;
    let floats = RegisterARM::S0 as i32..=RegisterARM::S31 as i32;
    for register in general.chain(floats) {
        to.reg_write(register, from.reg_read(register)?)?;
    }
    for register in [RegisterARM::XPSR, RegisterARM::SP, RegisterARM::LR] {
        to.reg_write(register, from.reg_read(register)?)?;
    }
    Ok(())
}
