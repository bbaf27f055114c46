//! What compiles the C library's example (`firmware/library/example`). It needs no C library for Arm.

use crate::project::Project;

/// Programs and the Debian packages that bring them.
const PROGRAMS: [(&str, &str); 2] =
    [("arm-none-eabi-gcc", "gcc-arm-none-eabi"), ("cmake", "cmake")];

/// The Debian packages that are missing.
pub fn packages(project: &Project) -> Vec<&'static str> {
    let missing = PROGRAMS.into_iter().filter(|(program, _)| project.which(program).is_none());
    missing.map(|(_, package)| package).collect()
}
