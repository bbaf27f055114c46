//! The lessons, and where in them a student is.

/// A lesson. Its steps stand in `static/lessons`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// Name of its file, as in links.
    pub id: &'static str,
    pub title: &'static str,
    /// What it asks.
    pub about: &'static str,
}

/// All of them, in order.
pub const LESSONS: [Lesson; 6] = [
    Lesson { id: "order", title: "Order", about: "When does the order of operators save memory?" },
    Lesson {
        id: "ping-pong",
        title: "Two buffers",
        about: "Why does a chain need no more than two?",
    },
    Lesson { id: "overlay", title: "Overlay", about: "How does DMA hide slow memory?" },
    Lesson {
        id: "swap",
        title: "Swapping",
        about: "How does a network run that is bigger than the chip?",
    },
    Lesson {
        id: "sparse-tiled",
        title: "Tiles and zeros",
        about: "What is gained by computing a little twice?",
    },
    Lesson { id: "together", title: "All together", about: "Which technique for which board?" },
];

/// Where a student is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LessonPlace {
    /// Index of the lesson.
    pub lesson: usize,
    /// Index of its step.
    pub step: usize,
}

impl LessonPlace {
    /// The place that a link names: `order`, or `order:2` for the second step.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, step) = text.split_once(':').unwrap_or((text, "1"));
        let lesson = LESSONS.iter().position(|lesson| lesson.id == id)?;
        let step: usize = step.parse().ok().filter(|step| (1..100).contains(step))?;
        Some(Self { lesson, step: step - 1 })
    }

    /// The lesson.
    #[must_use]
    pub fn lesson(self) -> &'static Lesson {
        &LESSONS[self.lesson.min(LESSONS.len() - 1)]
    }

    /// How a link names it.
    #[must_use]
    pub fn text(self) -> String {
        format!("{}:{}", self.lesson().id, self.step + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_link_names_lesson_and_step() {
        let place = LessonPlace::parse("swap:3").unwrap();
        assert_eq!(
            (place.lesson().title, place.step, place.text()),
            ("Swapping", 2, "swap:3".to_owned())
        );
        assert_eq!(LessonPlace::parse("order").map(|place| place.step), Some(0));
        for bad in ["", "swap:", "swap:0", "swap:-1", "swap:100", "teachers", "swap:1:2"] {
            assert_eq!(LessonPlace::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_lesson_has_its_text_and_its_links_name_what_there_is() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../static/lessons");
        for lesson in LESSONS {
            let text = std::fs::read_to_string(folder.join(format!("{}.md", lesson.id))).unwrap();
            let links = text.split("](#").skip(1).filter_map(|rest| rest.split(')').next());
            let links: Vec<&str> = links.filter(|link| !link.is_empty()).collect();
            assert!(!links.is_empty(), "{}", lesson.id);
            for link in links {
                let fragment = crate::view_model::fragment::Fragment::parse(link);
                assert_eq!(fragment.text(), link, "{}", lesson.id);
                let network = fragment.model.unwrap();
                let is_known = match network.strip_prefix("zoo:") {
                    Some(name) => tilewright_zoo::network(name).is_ok(),
                    None => crate::view_model::catalogue::find(&network).is_some(),
                };
                assert!(is_known, "{network}");
                assert!(tilewright_board::find(&fragment.settings.board).is_ok(), "{link}");
            }
        }
    }
}
