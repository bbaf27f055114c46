use super::*;

const PLAN: &str = "6f1c9a0123456789";

fn expected() -> Expected {
    Expected {
        board: "stm32f746g-disco".into(),
        known_boards: vec!["stm32f746g-disco".into(), "nucleo-f767zi".into()],
        abi: 6,
        plan_id: PLAN.into(),
        layers: 2,
        output_bytes: vec![2],
        frames: vec![b"TWINx".to_vec()],
        baud: 115_200,
        greeting_within: Duration::from_secs(30),
        answer_within: Duration::from_secs(20),
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A talk, and what it did that is no note.
struct Talk {
    session: Session,
    notes: Vec<Note>,
    now: Duration,
}

impl Talk {
    fn new(expected: Expected) -> Self {
        Self { session: Session::new(expected), notes: Vec::new(), now: Duration::ZERO }
    }

    fn greeted() -> Self {
        let mut talk = Self::new(expected());
        assert_eq!(talk.says(GREETING), []);
        talk
    }

    fn asked() -> Self {
        let mut talk = Self::greeted();
        assert_eq!(talk.says("ready 1"), [Action::Send(b"TWINx".to_vec())]);
        talk
    }

    fn keep(&mut self, actions: Vec<Action>) -> Vec<Action> {
        let mut others = Vec::new();
        for action in actions {
            match action {
                Action::Tell(note) => self.notes.push(note),
                action => others.push(action),
            }
        }
        others
    }

    fn says(&mut self, text: &str) -> Vec<Action> {
        let text = text.replace('\n', "\r\n") + "\r\n";
        let actions = self.session.hear(text.as_bytes(), self.now);
        self.keep(actions)
    }

    fn hears(&mut self, bytes: &[u8]) -> Vec<Action> {
        let actions = self.session.hear(bytes, self.now);
        self.keep(actions)
    }

    /// The same, and then nothing for a while.
    fn says_and_waits(&mut self, text: &str) -> Vec<Action> {
        let mut actions = self.says(text);
        self.now += QUIET;
        let quiet = self.session.tick(self.now);
        actions.extend(self.keep(quiet));
        actions
    }

    fn waits_until(&mut self, second: u64) -> Vec<Action> {
        self.now = seconds(second);
        let actions = self.session.tick(self.now);
        self.keep(actions)
    }
}

const GREETING: &str = "tilewright 0.1.0 abi 6 board stm32f746g-disco\nserial flash says ef4018\n\
                        plan 6f1c9a0123456789 layers 2 arena 64";
const ANSWER: &str = "layer 0 10 conv\nlayer 1 20 a name\noutput 0 80ff\nscore 1 -1 one\ninvoke 31";

fn outcome(actions: &[Action]) -> &Outcome {
    match actions {
        [Action::End(Ok(outcome))] => outcome,
        other => panic!("no outcome: {other:?}"),
    }
}

fn trouble(actions: &[Action]) -> Trouble {
    match actions {
        [Action::Stop, Action::End(Err(trouble))] => trouble.clone(),
        other => panic!("no trouble: {other:?}"),
    }
}

#[test]
fn a_talk_without_trouble() {
    let mut talk = Talk::asked();
    assert_eq!(talk.says(ANSWER), []);
    let actions = talk.says("done");
    let outcome = outcome(&actions);
    assert_eq!(outcome.answer.layers.len(), 2);
    assert_eq!(outcome.answer.layers[1].name, "a name");
    assert_eq!(outcome.answer.outputs, [[-128, -1]]);
    assert_eq!((outcome.answer.invoke_cycles, outcome.sent_again), (Some(31), 0));
    assert_eq!((outcome.resets, outcome.emulated.as_deref()), (0, None));
    assert_eq!(outcome.remarks, ["serial flash says ef4018"]);
}

#[test]
fn a_stand_in_is_told() {
    let mut talk = Talk::new(expected());
    talk.says("emulated by worker 0.1.0");
    talk.says(GREETING);
    talk.says("ready 1");
    talk.says(ANSWER);
    assert_eq!(outcome(&talk.says("done")).emulated.as_deref(), Some("by worker 0.1.0"));
}

#[test]
fn rows_go_out_one_by_one() {
    let frames = vec![b"a".to_vec(), b"b".to_vec()];
    let mut talk = Talk::new(Expected { frames, ..expected() });
    talk.says(GREETING);
    assert_eq!(talk.says("ready 1"), [Action::Send(b"a".to_vec())]);
    assert_eq!(talk.says("ready 1"), [Action::Send(b"b".to_vec())]);
    assert_eq!(
        talk.says_and_waits("retry: crc\nready 1"),
        [Action::Stop, Action::Send(b"b".to_vec())]
    );
    talk.says(ANSWER);
    assert_eq!(outcome(&talk.says("done")).sent_again, 1);
}

#[test]
fn another_board_plan_or_version_ends_the_talk() {
    let other = GREETING.replace("stm32f746g-disco", "nucleo-f767zi");
    let (board, image) = ("nucleo-f767zi".to_owned(), "stm32f746g-disco".to_owned());
    assert_eq!(trouble(&Talk::new(expected()).says(&other)), Trouble::OtherBoard { board, image });
    let other = GREETING.replace("abi 6", "abi 5");
    assert_eq!(trouble(&Talk::new(expected()).says(&other)), Trouble::Abi { board: 5, image: 6 });
    let other = GREETING.replace(PLAN, "0000000000000000");
    assert!(matches!(trouble(&Talk::new(expected()).says(&other)), Trouble::OtherPlan { .. }));
    let mut talk = Talk::new(expected());
    talk.says("tilewright 2 protocol 9");
    assert!(matches!(trouble(&talk.waits_until(30)), Trouble::OtherProtocol { .. }));
}

#[test]
fn a_greeting_that_lost_bytes_is_asked_for_again() {
    let mut talk = Talk::new(expected());
    assert_eq!(talk.says("tilewright 0.1.0 abi 6 board stm32f746-disco"), []);
    assert!(matches!(talk.notes[..], [Note::Unreadable(_)]));
    assert_eq!(talk.says(GREETING), []);
    assert_eq!(talk.says("ready 1").len(), 1);
    let mut talk = Talk::new(expected());
    talk.says("tilewright 0.1.0 abi 6 board stm32f746g-disco\nplan 6f1c layers 2 arena 64");
    assert_eq!(talk.says("ready 1"), [], "nothing is sent to a board that holds who knows what");
    assert!(talk.notes.contains(&Note::PlanLost));
    talk.says(GREETING);
    assert_eq!(talk.says("ready 1").len(), 1);
}

#[test]
fn silence_noise_and_strangers_are_told_apart() {
    let mut talk = Talk::new(expected());
    assert_eq!(talk.waits_until(2), []);
    assert_eq!(talk.notes, []);
    assert_eq!(talk.waits_until(3), []);
    assert_eq!(talk.notes, [Note::PressReset { talks: false }]);
    assert_eq!(trouble(&talk.waits_until(30)), Trouble::Silent { seconds: 30 });

    let mut talk = Talk::new(expected());
    talk.hears(&[0xf0; 100]);
    assert_eq!(trouble(&talk.waits_until(2)), Trouble::Noise { bytes: 100, baud: 115_200 });

    let mut talk = Talk::new(expected());
    talk.says("Hello world");
    let line = "Hello world".to_owned();
    assert_eq!(trouble(&talk.waits_until(30)), Trouble::OtherProgram { line });

    let mut talk = Talk::new(expected());
    assert_eq!(talk.says("ready 1"), [], "who has not greeted is sent nothing");
    talk.waits_until(3);
    assert_eq!(talk.notes, [Note::PressReset { talks: true }]);
    assert_eq!(trouble(&talk.waits_until(30)), Trouble::NoGreeting { seconds: 30 });
}

#[test]
fn a_refused_frame_is_sent_again_a_few_times() {
    let mut talk = Talk::asked();
    for _ in 0..MOST_AGAIN {
        let again = [Action::Stop, Action::Send(b"TWINx".to_vec())];
        assert_eq!(talk.says_and_waits("retry: crc\nready 1"), again);
    }
    let actions = talk.says("retry: crc\nready 1");
    let last = "crc".to_owned();
    assert_eq!(trouble(&actions[1..]), Trouble::LosesBytes { times: MOST_AGAIN + 1, last });
}

#[test]
fn what_is_left_of_a_frame_passes_before_it_is_sent_again() {
    let mut talk = Talk::asked();
    let step = QUIET / 2;
    assert_eq!(talk.says("retry: the frame stopped\nready 1"), [Action::Stop]);
    // The rest of the frame arrives, which starts none.
    talk.now += step;
    assert_eq!(talk.says("retry: a frame starts with TWIN\nready 1"), [Action::Stop]);
    talk.now += step;
    assert_eq!(talk.hears(b""), [], "the line was not quiet for long");
    talk.now += step;
    assert_eq!(talk.hears(b""), [Action::Send(b"TWINx".to_vec())]);
    talk.says(ANSWER);
    assert_eq!(outcome(&talk.says("done")).sent_again, 1, "it was sent twice");
}

#[test]
fn an_answer_that_lost_a_line_is_asked_for_again() {
    for lost in ["layer 0 10 conv\n", "output 0 80ff\n", "\ninvoke 31"] {
        let mut talk = Talk::asked();
        talk.says(&ANSWER.replace(lost, ""));
        assert_eq!(talk.says("done"), [], "{lost}");
        assert_eq!(talk.says_and_waits("ready 1"), [Action::Send(b"TWINx".to_vec())], "{lost}");
        talk.says(ANSWER);
        assert_eq!(outcome(&talk.says("done")).sent_again, 1, "{lost}");
    }
    let mut talk = Talk::asked();
    talk.says(ANSWER);
    outcome(&talk.says("dne\nready 1"));
}

#[test]
fn a_board_that_begins_anew_is_sent_the_input_again() {
    let mut talk = Talk::asked();
    talk.says("layer 0 10 conv");
    for _ in 0..MOST_RESETS {
        assert_eq!(talk.says(GREETING), [Action::Stop]);
        // What the line held of the first frame passes before.
        assert_eq!(talk.says("ready 1"), []);
        assert_eq!(
            talk.says_and_waits("retry: a frame starts with TWIN"),
            [Action::Send(b"TWINx".to_vec())]
        );
    }
    let mut worn = Talk { session: talk.session.clone(), notes: Vec::new(), now: talk.now };
    talk.says(ANSWER);
    assert_eq!(outcome(&talk.says("done")).resets, MOST_RESETS);
    let times = MOST_RESETS + 1;
    assert_eq!(trouble(&worn.says(GREETING)), Trouble::KeepsResetting { times });
}

#[test]
fn bytes_of_others_and_errors_are_told() {
    let mut talk = Talk::greeted();
    talk.says("ready 1\nretry: a frame starts with TWIN");
    assert_eq!(talk.says("error: no card; put one in").len(), 2);
    let mut talk = Talk::greeted();
    talk.says("retry: a frame starts with TWIN");
    assert!(matches!(talk.notes.last(), Some(Note::Stranger(_))));
    let error = "no card".to_owned();
    assert_eq!(trouble(&talk.says("error: no card")), Trouble::Failed { error });
}

#[test]
fn a_frame_that_nobody_answers_is_sent_once_more() {
    let mut talk = Talk::asked();
    talk.session.sent(seconds(5));
    assert_eq!(talk.waits_until(24), []);
    assert_eq!(talk.waits_until(25), []);
    assert_eq!(talk.waits_until(26), [Action::Send(b"TWINx".to_vec())]);
    let no_answer = Trouble::NoAnswer { seconds: 20, asked: true };
    assert_eq!(trouble(&talk.waits_until(45)), no_answer);
    let mut talk = Talk::greeted();
    let no_answer = Trouble::NoAnswer { seconds: 20, asked: false };
    assert_eq!(trouble(&talk.waits_until(20)), no_answer);
}

/// Numbers that look drawn, the same each time.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn whatever_is_heard_a_talk_ends_and_no_stranger_is_sent_anything() {
    let whole = format!("{GREETING}\nready 1\n{ANSWER}\ndone\nready 1\n");
    let whole = whole.replace('\n', "\r\n").repeat(3);
    for seed in 0..2000 {
        let mut drawn = Drawn(seed);
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..drawn.below(12) {
            let at = drawn.below(bytes.len());
            match drawn.below(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = drawn.below(256) as u8,
                // Enough is left to change.
                _ => bytes.truncate(at.max(64)),
            }
        }
        let mut talk = Talk::new(expected());
        let (mut ends, mut said, mut left) = (0, Vec::new(), bytes.as_slice());
        while talk.now < seconds(400) {
            let (now, rest) = left.split_at(drawn.below(40).min(left.len()));
            left = rest;
            said.extend_from_slice(now);
            for action in talk.hears(now) {
                match action {
                    Action::Send(_) => {
                        let said = String::from_utf8_lossy(&said);
                        assert!(said.contains(PLAN), "seed {seed}: {said}");
                    }
                    Action::End(end) => {
                        ends += 1;
                        let whole = |outcome: &Outcome| outcome.answer.is_whole(&expected());
                        assert!(end.as_ref().map_or(true, |outcome| whole(outcome)), "seed {seed}");
                    }
                    Action::Stop | Action::Tell(_) => {}
                }
            }
            talk.now += Duration::from_millis(drawn.below(3000) as u64);
        }
        assert_eq!(ends, 1, "seed {seed}: a talk ends once");
    }
}
