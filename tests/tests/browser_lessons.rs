//! Lessons drive the page, ask, and answer once the student has committed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::dist;
use tilewright_tests::static_host;

const LESSONS: [&str; 6] = ["order", "ping-pong", "overlay", "swap", "sparse-tiled", "together"];

/// Answers the questions of the shown step with their first answer. Gives how many there were.
const ANSWER: &str = "
    const step = document.querySelector('.lesson section:not([hidden])');
    const questions = [...step.querySelectorAll('.question')];
    for (const question of questions) {
        const answer = question.nextElementSibling;
        if (!answer.hidden) throw new Error('the answer is told too early');
        const button = question.querySelector('[data-commit]');
        if (!button.disabled) throw new Error('nothing was chosen, but it can be committed');
        const first = question.querySelector('input');
        first.checked = true;
        first.dispatchEvent(new Event('change', { bubbles: true }));
        button.click();
        if (answer.hidden) throw new Error('there is no answer');
        if (question.querySelectorAll('.right').length !== 1) throw new Error('what is right?');
    }
    return questions.length";

#[tokio::test(flavor = "multi_thread")]
async fn every_step_of_every_lesson_shows_what_it_speaks_of() {
    let site = static_host::serve(dist().join("page"), "some/where");
    let browser = Browser::start(1440, 900, false).await;
    browser.open(&site).await;
    browser.click("open-lesson-order").await;
    for (number, lesson) in LESSONS.into_iter().enumerate() {
        let begins = format!("Lesson {} of 6, step 1 of ", number + 1);
        let at = browser
            .text_when("lesson-at", |text| text.starts_with(&begins) && !text.ends_with(" 1"));
        let at = at.await;
        let steps: usize = at.rsplit(' ').next().unwrap().parse().unwrap();
        let mut questions = 0;
        for step in 1..=steps {
            let begins = format!("Lesson {} of 6, step {step} of", number + 1);
            browser.text_when("lesson-at", |text| text.starts_with(&begins)).await;
            let link =
                "return document.querySelector('.lesson section:not([hidden])').dataset.link ?? ''";
            let link = browser.script(link, Vec::new()).await;
            let view = link.as_str().unwrap().split("view=").nth(1).map(str::to_owned);
            if let Some(view) = view.filter(|view| view != "explore") {
                browser.find(&format!("panel-{view}")).await;
                let address = browser.client.current_url().await.unwrap();
                let wanted = format!("lesson={lesson}:{step}");
                assert!(address.as_str().contains(&wanted), "{address}");
            }
            questions += browser.script(ANSWER, Vec::new()).await.as_u64().unwrap();
            if number + 1 < LESSONS.len() || step < steps {
                browser.click("lesson-next").await;
            }
        }
        assert!(questions > 0, "{lesson} asks nothing");
    }
    assert_eq!(browser.complaints_of_the_page().await, Vec::<String>::new());
    browser.click("lesson-close").await;
    let is_closed = "return document.querySelector('[data-testid=lesson]') === null";
    assert_eq!(browser.script(is_closed, Vec::new()).await, json!(true));
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_step_shows_its_own_state_and_fits_a_phone() {
    let site = static_host::serve(dist().join("page"), "p");
    let browser = Browser::start(390, 844, false).await;
    // The step speaks of another strategy than the link.
    let link = "model=lenet5&board=stm32f746g-disco&strategy=ping-pong&view=memory&lesson=order:2";
    browser.open(&format!("{site}#{link}")).await;
    browser.text_when("lesson-at", |text| text.starts_with("Lesson 1 of 6, step 2 of 5")).await;
    browser.find("panel-memory").await;
    let address = browser.client.current_url().await.unwrap();
    assert!(address.as_str().contains("strategy=ping-pong"), "{address}");
    let widths = "return [document.documentElement.scrollWidth, window.innerWidth]";
    assert_eq!(browser.script(widths, Vec::new()).await, json!([390, 390]));
    // What is printed has all steps, and no answers.
    browser.client.goto(&format!("{site}lessons/order.html")).await.unwrap();
    let shown = "return [document.querySelectorAll('section').length > 3,
                         document.querySelectorAll('.answer:not([hidden])').length]";
    assert_eq!(browser.script(shown, Vec::new()).await, json!([true, 0]));
    browser.end().await;
}
