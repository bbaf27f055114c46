//! Many short jobs on two worker processes, on SQLite and on PostgreSQL, first in peace and then with workers that are
//! killed and come again under their names: none may be lost, stuck or wrong.
//!
//! `cargo run --release -p tilewright-queue --example load -- all 10000` says each round as a line of JSON; `tests` does the
//! tests on PostgreSQL. `cargo xtask bench queue` does both. Needs PostgreSQL's `initdb`, found at Debian's places or in
//! the path.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use tilewright_queue::{
    Beat, Content, Database, Ended, Job, JobState, Limits, Location, Queue, hash_of, new_id,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const KIND: &str = "load/1";
/// Of a part of the jobs the worker is killed in the middle, in the second round.
const LEASE: Duration = Duration::from_millis(1500);

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["worker", address, name] => worker(address, name),
        ["all", jobs] => {
            let jobs = jobs.parse()?;
            in_folder(|folder| both(folder, jobs))
        }
        ["tests"] => in_folder(tests),
        _ => Err("usage: load all JOBS, or load tests".into()),
    }
}

fn limits() -> Limits {
    Limits { lease: LEASE, attempts: 100, ..Limits::default() }
}

/// What a job gives.
fn answer(number: u64) -> Vec<u8> {
    hash_of([&number.to_le_bytes()[..]]).into_bytes()
}

/// Does jobs of one millisecond until it is killed.
fn worker(address: &str, name: &str) -> Result<()> {
    let queue = Database::open(address.parse()?, limits())?;
    loop {
        let Some(claim) = queue.claim(name, &[KIND])? else {
            sleep(Duration::from_millis(20));
            continue;
        };
        let number = u64::from_le_bytes(claim.payload[..].try_into()?);
        sleep(Duration::from_millis(1));
        if number % 10 == 0 && queue.beat(&claim, b"on the way")? == Beat::Lost {
            continue;
        }
        let bytes = answer(number);
        let key = format!("{number}");
        Content::with(&bytes, |result| {
            queue.finish(&claim, &Ended::Done { key: &key, result, beside: Vec::new() })
        })?;
    }
}

/// A process that is killed with this value.
struct Worker(Child);

impl Worker {
    fn start(address: &str, name: &str) -> Result<Self> {
        let child = Command::new(env::current_exe()?).args(["worker", address, name]).spawn()?;
        Ok(Self(child))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn in_folder(what: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let folder = env::temp_dir().join(format!("tilewright-load-{}", new_id()?));
    fs::create_dir(&folder)?;
    let done = what(&folder);
    fs::remove_dir_all(&folder)?;
    done
}

/// The tests on a server of PostgreSQL.
fn tests(folder: &Path) -> Result<()> {
    let cluster = Cluster::start(&folder.join("postgres"))?;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--quiet", "--release", "--package", "tilewright-queue", "--tests"]);
    command.env("TILEWRIGHT_POSTGRES", cluster.database("tests")?);
    if command.status()?.success() { Ok(()) } else { Err("a test fails".into()) }
}

fn both(folder: &Path, jobs: u64) -> Result<()> {
    for killed in [false, true] {
        let file = folder.join(format!("{killed}.sqlite"));
        round("SQLite", &file.display().to_string(), jobs, killed)?;
    }
    let cluster = Cluster::start(&folder.join("postgres"))?;
    for killed in [false, true] {
        round("PostgreSQL", &cluster.database(&format!("round_{killed}"))?, jobs, killed)?;
    }
    Ok(())
}

fn round(what: &str, address: &str, jobs: u64, killed: bool) -> Result<()> {
    let queue = Database::open(address.parse::<Location>()?, limits())?;
    let begun = Instant::now();
    let mut ids = Vec::new();
    for number in 0..jobs {
        let id = new_id()?;
        let payload = number.to_le_bytes().to_vec();
        let (kind, key, owner) = (KIND.to_owned(), format!("{number}"), format!("{}", number % 7));
        queue.submit(&Job { id: id.clone(), kind, payload, key, owner }, &[])?;
        ids.push(id);
    }
    let submitted = begun.elapsed();
    let mut workers = [Worker::start(address, "one")?, Worker::start(address, "two")?];
    let (mut kills, mut last) = (0, Instant::now());
    loop {
        sleep(Duration::from_millis(50));
        let counts = queue.counts()?;
        let open: u64 = ["waiting", "running"].iter().filter_map(|state| counts.get(*state)).sum();
        if open == 0 {
            break;
        }
        if killed && last.elapsed() > Duration::from_millis(700) {
            let which = kills % 2;
            workers[which] = Worker::start(address, ["one", "two"][which])?;
            (kills, last) = (kills + 1, Instant::now());
        }
        if begun.elapsed() > Duration::from_secs(600) {
            return Err(format!("{what}: {open} jobs are stuck").into());
        }
    }
    let took = begun.elapsed();
    drop(workers);
    let mut again = 0;
    for (number, id) in ids.iter().enumerate() {
        let view = queue.look(id)?.ok_or("a job is lost")?;
        let hash = view.result.ok_or("a result is lost")?;
        if view.state != JobState::Done
            || queue.whole_content(&hash, 1000)? != answer(number as u64)
        {
            return Err(format!("{what}: job {number} is wrong").into());
        }
        again += u64::from(view.attempts > 1);
    }
    let seconds = took.as_secs_f64();
    let submitted = submitted.as_secs_f64();
    println!(
        "{{\"database\":\"{what}\",\"jobs\":{jobs},\"seconds\":{seconds:.1},\"submitted\":{submitted:.1},\
         \"killed\":{kills},\"again\":{again}}}"
    );
    Ok(())
}

/// A cluster of PostgreSQL of its own, which ends with this value.
struct Cluster {
    data: PathBuf,
    port: u16,
}

impl Cluster {
    fn start(folder: &Path) -> Result<Self> {
        fs::create_dir(folder)?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let this = Self { data: folder.join("data"), port };
        if is_root() {
            Self::say(Command::new("chown").arg("postgres").arg(folder))?;
        }
        Self::say(
            program("initdb").args(["-A", "trust", "-U", "postgres", "-N", "-D"]).arg(&this.data),
        )?;
        let options = format!("-k {} -h 127.0.0.1 -p {port}", folder.display());
        Self::say(
            program("pg_ctl")
                .args(["-w", "-l"])
                .arg(folder.join("log"))
                .args(["-o", &options, "-D"])
                .arg(&this.data)
                .arg("start"),
        )?;
        Ok(this)
    }

    fn say(command: &mut Command) -> Result<()> {
        let status = command.stdout(Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
    }

    fn database(&self, name: &str) -> Result<String> {
        let port = self.port;
        let server = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        let mut client = postgres::Client::connect(&server, postgres::NoTls)?;
        client.batch_execute(&format!("CREATE DATABASE {name}"))?;
        Ok(format!("postgres://postgres@127.0.0.1:{port}/{name}"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = Self::say(
            program("pg_ctl").args(["-m", "immediate", "-D"]).arg(&self.data).arg("stop"),
        );
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.starts_with(b"0\n"))
}

/// A program of PostgreSQL, which refuses to be run by root.
fn program(name: &str) -> Command {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found =
        debian.map(|version| version.path().join("bin").join(name)).find(|path| path.is_file());
    let path = found.unwrap_or_else(|| PathBuf::from(name));
    if !is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(path).current_dir("/");
    command
}
