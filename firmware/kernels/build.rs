//! Says whether the processor has Armv7E-M's DSP instructions: the compiler names them to unstable
//! code only. Of Armv8-M those cores have them that rustc is told of by name.

/// A core of Armv8-M with the DSP extension, as rustc takes it.
const WITH_DSP: &str = "target-cpu=cortex-m33";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(armv7e_m)");
    println!("cargo::rustc-check-cfg=cfg(armv8_m)");
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_named = flags.split('\x1f').any(|flag| flag.ends_with(WITH_DSP));
    let has_dsp = if target.starts_with("thumbv8m.main-") {
        println!("cargo::rustc-cfg=armv8_m");
        is_named
    } else {
        target.starts_with("thumbv7em-")
    };
    if has_dsp {
        println!("cargo::rustc-cfg=armv7e_m");
    }
}
