//! Sweeps by a queue: the same rows as planned here, also if workers are killed, and none planned twice.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tilewright_tests::program::program;

/// A worker that is killed with this value.
struct Worker(Child);

impl Worker {
    fn start(queue: &Path) -> Self {
        let mut command = program();
        command.args(["worker", "--queue"]).arg(queue).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sweep(queue: Option<&Path>) -> String {
    let models = ["models/lenet5.onnx", "zoo:mcunet-in0", "zoo:vww", "none.onnx"];
    let mut command = program();
    command.args(["explore", "sweep", "--json", "--board", "stm32f746g-disco,nrf52840-dk"]);
    command.args(["--strategy", "resident,overlay,auto", "--sram", "60000,120000"]).args(models);
    if let Some(queue) = queue {
        command.arg("--queue").arg(queue);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn workers_that_are_killed_plan_what_is_planned_here_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let queue = folder.path().join("queue.sqlite");
    let here = sweep(None);
    let killed = Worker::start(&queue);
    let other = std::thread::scope(|scope| {
        let theirs = scope.spawn(|| sweep(Some(&queue)));
        sleep(Duration::from_millis(400));
        drop(killed);
        let other = Worker::start(&queue);
        assert_eq!(theirs.join().unwrap(), here);
        other
    });
    drop(other);
    assert_eq!(sweep(Some(&queue)), here, "what is known needs no worker");
}
