//! Emulation speed: a loop like a kernel's, with the worker's hook and costs, and in bare
//! Unicorn, in one run.

pub mod steps;

use std::time::Instant;

use tilewright_protocol::{Job, Limits};
use unicorn_engine::{Arch, ArmCpuModel, Mode as CpuMode, Prot, Unicorn, uc_error};

use crate::{Firmware, JobError, engine};

const BOARD: &str = "stm32f746g-disco";
const FLASH: u32 = 0x0800_0000;
const RAM: u64 = 0x2000_0000;
const PROGRAM: &[u8] = include_bytes!("../programs/multiply.bin");
/// Each is run this often; the best counts, for a machine may be busy.
const TIMES: usize = 3;

/// Runs the benchmark and gives its figures as JSON: millions of emulated instructions a second.
///
/// # Errors
/// If the emulator cannot be set up.
pub fn bench() -> Result<String, JobError> {
    let (mut hooked, mut bare, mut instructions) = (u64::MAX, u64::MAX, 0);
    for _ in 0..TIMES {
        bare = bare.min(run_bare().map_err(engine::failed)?);
        let (count, nanoseconds) = run_hooked()?;
        hooked = hooked.min(nanoseconds);
        instructions = count;
    }
    let speed = |nanoseconds: u64| (instructions * 1000).checked_div(nanoseconds).unwrap_or(0);
    Ok(serde_json::json!({
        "program": "int8 products, 14 instructions a block",
        "instructions": instructions,
        "hooked_million_per_second": speed(hooked),
        "bare_million_per_second": speed(bare),
        "engine": crate::name(tilewright_protocol::Engine::Unicorn),
    })
    .to_string())
}

fn run_hooked() -> Result<(u64, u64), JobError> {
    let board = tilewright_board::find(BOARD)?;
    let firmware = Firmware { segments: vec![(FLASH, PROGRAM.to_vec())], ..Firmware::default() };
    let job = Job {
        strict: false,
        ..Job::new(BOARD, Vec::new(), Limits { instructions: u64::MAX, console_bytes: 0 })
    };
    // The program ends asleep, which ends the job.
    let finish = crate::run_firmware(board, firmware, &job, |_| {})?;
    Ok((finish.boot.instructions(), finish.wall_ns))
}

fn run_bare() -> Result<u64, uc_error> {
    let start = Instant::now();
    let mut uc = Unicorn::new(Arch::ARM, CpuMode::THUMB)?;
    uc.ctl_set_cpu_model(ArmCpuModel::CORTEX_M7 as i32)?;
    engine::limit_code_buffer(&uc)?;
    uc.mem_map(u64::from(FLASH), 1 << 20, Prot::READ | Prot::EXEC)?;
    uc.mem_map(RAM, 1 << 16, Prot::ALL)?;
    uc.mem_write(u64::from(FLASH), PROGRAM)?;
    let end = u64::from(FLASH) + PROGRAM.len() as u64;
    uc.emu_start(u64::from(FLASH | 0x41), end, 0, 0)?;
    Ok(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
}
