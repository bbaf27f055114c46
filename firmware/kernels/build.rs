//! Says whether the processor has Armv7E-M's DSP instructions: the compiler names them to unstable
//! code only.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(armv7e_m)");
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("TARGET").is_ok_and(|target| target.starts_with("thumbv7em-")) {
        println!("cargo::rustc-cfg=armv7e_m");
    }
}
