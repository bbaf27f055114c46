//! Lessons: Markdown of `static/lessons` as HTML, for the page and for printers.
//!
//! A heading of the second level begins a step. The first link of a step to a state of the page (`#model=…`) is what
//! the page shows with it. A list with boxes is a question, `[x]` its right answer; the quotation behind it is shown
//! once the student has answered.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Name of a lesson, and its HTML file.
pub type Lesson = (String, Vec<u8>);

/// All lessons of a folder.
///
/// # Errors
/// If one cannot be read, or is not built as lessons are.
pub fn all(folder: &Path) -> Result<Vec<Lesson>> {
    let unreadable = || format!("cannot read {}", folder.display());
    let mut lessons = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let body = body(&text).with_context(|| format!("in {}", path.display()))?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
        lessons.push((name, document(title, &body).into_bytes()));
    }
    Ok(lessons)
}

/// A page of its own, which prints well and needs nothing else.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} (Tilewright)</title>\n\
         <link rel=\"stylesheet\" href=\"../lesson.css\">\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// What a question has: its number among those of its lesson.
struct Question(usize);

/// The lesson's steps as sections.
fn body(text: &str) -> Result<String> {
    let events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TASKLISTS).collect();
    let mut out: Vec<Event> = Vec::new();
    let (mut steps, mut questions, mut at) = (0, Question(0), 0);
    let mut answers_next = false;
    while at < events.len() {
        let event = &events[at];
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) => {
                if steps > 0 {
                    out.push(Event::Html("</section>\n".into()));
                }
                steps += 1;
                out.push(Event::Html(section(&events[at..]).into()));
                out.push(event.clone());
            }
            Event::Start(Tag::List(None)) => {
                let end = at + end_of_list(&events[at..])?;
                let list = &events[at..=end];
                if list.iter().any(|event| matches!(event, Event::TaskListMarker(_))) {
                    questions.0 += 1;
                    out.push(Event::Html(question(list, &questions)?.into()));
                    answers_next = true;
                } else {
                    out.extend_from_slice(list);
                }
                at = end;
            }
            Event::Start(Tag::BlockQuote(_)) if answers_next => {
                out.push(Event::Html("<div class=\"answer\" hidden>\n".into()));
            }
            Event::End(TagEnd::BlockQuote(_)) if answers_next => {
                out.push(Event::Html("</div>\n".into()));
                answers_next = false;
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id })
                if dest_url.starts_with('#') =>
            {
                let dest_url = format!("../{dest_url}").into();
                let (link_type, title, id) = (*link_type, title.clone(), id.clone());
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            other => out.push(other.clone()),
        }
        at += 1;
    }
    ensure!(steps > 0, "there is no step: begin one with `## `");
    ensure!(!answers_next, "a question has no answer: quote it behind the list");
    out.push(Event::Html("</section>\n".into()));
    let mut body = String::new();
    html::push_html(&mut body, out.into_iter());
    Ok(body)
}

/// The beginning of a step: what the page shows with it is its first link to a state of the page.
fn section(events: &[Event]) -> String {
    let is_next = |event: &&Event| {
        !matches!(event, Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }))
    };
    let step = events.iter().skip(1).take_while(is_next);
    let link = step.filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            dest_url.strip_prefix('#').filter(|link| !link.is_empty())
        }
        _ => None,
    });
    let link = link.map(|link| link.replace('&', "&amp;")).next();
    link.map_or_else(
        || "<section>\n".to_owned(),
        |link| format!("<section data-link=\"{link}\">\n"),
    )
}

/// Where the list that begins the events ends.
fn end_of_list(events: &[Event]) -> Result<usize> {
    let mut depth = 0;
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::List(_)) => depth += 1,
            Event::End(TagEnd::List(_)) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(at);
        }
    }
    anyhow::bail!("a list has no end")
}

/// A list with boxes as a choice of one.
fn question(list: &[Event], number: &Question) -> Result<String> {
    let name = number.0;
    let mut out = format!("<fieldset class=\"question\">\n<legend>Question {name}</legend>\n");
    let mut right = 0;
    for item in list.split(|event| matches!(event, Event::Start(Tag::Item))).skip(1) {
        let mark = item.iter().find_map(|event| match event {
            Event::TaskListMarker(is_right) => Some(*is_right),
            _ => None,
        });
        let is_right = mark.context("each answer of a question needs a box")?;
        right += usize::from(is_right);
        let is_shown = |event: &&Event| {
            !matches!(event, Event::TaskListMarker(_) | Event::End(TagEnd::Item | TagEnd::List(_)))
        };
        let mut text = String::new();
        html::push_html(&mut text, item.iter().filter(is_shown).cloned());
        let value = if is_right { "right" } else { "wrong" };
        out += &format!(
            "<label><input type=\"radio\" name=\"question-{name}\" value=\"{value}\"> {}</label>\n",
            text.trim()
        );
    }
    ensure!(right == 1, "a question has {right} right answers instead of one");
    out += "<button type=\"button\" class=\"button\" data-commit disabled>Commit to this answer</button>\n</fieldset>\n";
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n\nIntro.\n\n## One\n\n[See](#model=a&view=film) it.\n\n\
                        - [ ] no\n- [x] **yes**\n\n> Since [so](#model=b).\n\n## Two\n\n- plain\n";

    #[test]
    fn steps_links_questions_and_answers_become_html() {
        let body = body(TEXT).unwrap();
        assert_eq!(body.matches("<section").count(), 2, "{body}");
        assert!(body.contains("<section data-link=\"model=a&amp;view=film\">"), "{body}");
        assert!(body.contains("href=\"../#model=b\""), "{body}");
        assert!(body.contains("value=\"right\"> <strong>yes</strong></label>"), "{body}");
        assert!(body.contains("<div class=\"answer\" hidden>"), "{body}");
        assert!(body.contains("<li>plain</li>"), "{body}");
    }

    #[test]
    fn what_is_no_lesson_is_refused() {
        assert!(body("# Title\n").is_err(), "no step");
        assert!(body("## A\n\n- [ ] a\n- [ ] b\n\n> c\n").is_err(), "nothing is right");
        assert!(body("## A\n\n- [x] a\n- [ ] b\n").is_err(), "no answer");
    }

    #[test]
    fn every_lesson_is_one() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/lessons");
        let lessons = all(&folder).unwrap();
        assert!(lessons.len() >= 6);
    }
}
