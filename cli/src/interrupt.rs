//! Ctrl-C, and requests to end from elsewhere.

use std::time::Duration;

use tilewright_app::{Cancel, Diagnostic};

/// How long work may take to end by itself. A person waits for a second at most.
const GRACE: Duration = Duration::from_millis(500);

/// A cancel that Ctrl-C asks for. The program ends soon after, whatever it does: most work ends by
/// itself, with what it has found, before it is ended. The second Ctrl-C ends it at once.
///
/// # Errors
/// If the system refuses.
pub fn cancelled_by_ctrl_c() -> Result<Cancel, Diagnostic> {
    cancelled_by_ctrl_c_within(GRACE)
}

/// The same, for work that may take so long to end by itself.
///
/// # Errors
/// If the system refuses.
pub fn cancelled_by_ctrl_c_within(grace: Duration) -> Result<Cancel, Diagnostic> {
    let cancel = Cancel::default();
    #[cfg(unix)]
    signals::listen(&cancel, grace)
        .map_err(|error| Diagnostic::ours(format!("{error}."), "Ctrl-C"))?;
    Ok(cancel)
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::process;
    use std::thread;
    use std::time::Duration;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use tilewright_app::{Blame, Cancel};

    pub fn listen(cancel: &Cancel, grace: Duration) -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag down, and only then raises it.
            let code = i32::from(Blame::Cancelled.exit_code());
            signal_hook::flag::register_conditional_shutdown(signal, code, cancel.flag())?;
            signal_hook::flag::register(signal, cancel.flag())?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let cancel = cancel.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if signals.forever().next().is_some() {
                thread::sleep(grace);
                crate::progress::take_away();
                let code = Blame::Cancelled.exit_code();
                cancel.check().map_err(|problem| crate::complain(&problem)).ok();
                process::exit(code.into());
            }
        })?;
        Ok(())
    }
}
