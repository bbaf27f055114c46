//! How large the project is: lines of code that people maintain, and bytes of text that they read.

use super::files::is_generated;

/// Sums over the project's files.
#[derive(Debug, Default)]
pub struct Size {
    /// Lines of Rust without tests, fixtures, generated code, comments and blank lines.
    pub code_lines: usize,
    /// Bytes of Markdown.
    pub markdown_bytes: usize,
}

impl Size {
    /// Adds a file.
    pub fn see(&mut self, name: &str, text: &str) {
        if name.ends_with(".md") {
            self.markdown_bytes += text.len();
        } else if name.ends_with(".rs") && !is_test(name) && !is_generated(text) {
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
            self.code_lines += code.lines().map(str::trim_start).filter(is_code).count();
        }
    }
}

fn is_test(name: &str) -> bool {
    name.starts_with("fuzz/")
        || name.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "fixture.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_no_code() {
        let mut size = Size::default();
        let text =
            "//! A.\n\nfn a() {\n    // B.\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    c\n}\n";
        size.see("core/plan/src/a.rs", text);
        size.see("core/plan/tests/a.rs", text);
        size.see("README.md", "text");
        assert_eq!((size.code_lines, size.markdown_bytes), (3, 4));
    }
}
