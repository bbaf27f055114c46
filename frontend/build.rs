//! Keeps in the page's program what tells its parts from each other: `cargo xtask build` takes them apart.

fn main() {
    let is_wasm = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    if is_wasm && std::env::var_os("CARGO_FEATURE_PAGE").is_some() {
        println!("cargo::rustc-link-arg-bin=page=--emit-relocs");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
