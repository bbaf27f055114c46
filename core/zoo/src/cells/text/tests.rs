use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::INPUTS;
use super::*;

const NORMAL: &str = "normal=[('none', 0), ('sep_conv_3x3', 1)]";
const REDUCE: &str = "reduce=[('max_pool_3x3', 1), ('skip_connect', 0)]";

fn read(text: &str) -> Result<Genotype, GenotypeError> {
    text.parse()
}

/// What is said of a text.
fn complaint(text: &str) -> String {
    match read(text) {
        Ok(genotype) => panic!("{text} became {genotype}"),
        Err(error) => error.to_string(),
    }
}

fn any_cell() -> impl Strategy<Value = Cell> {
    (1..=MOST_STEPS).prop_flat_map(|steps| {
        let edge = |node: usize| {
            let operation = select(Operation::ALL.to_vec());
            (operation, 0..node).prop_map(|(operation, input)| Edge { operation, input })
        };
        let step = |index| [edge(INPUTS + index), edge(INPUTS + index)];
        let all = (0..steps).map(step).collect::<Vec<_>>();
        let nodes: Vec<usize> = (INPUTS..INPUTS + steps).collect();
        (all, subsequence(nodes, 1..=steps)).prop_map(|(steps, joined)| {
            let steps = steps.into_iter().map(|edges| Step { edges }).collect();
            Cell::new(steps, joined).unwrap()
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(normal in any_cell(), reduction in any_cell()) {
        let genotype = Genotype { normal, reduction };
        let text = genotype.to_string();
        prop_assert!(text.len() < MOST_BYTES / 10);
        prop_assert_eq!(read(&text), Ok(genotype.clone()));
        let spread = text.replace(", ", " ,\n\t").replace('\'', "\"");
        prop_assert_eq!(read(&spread).map(|back| back.to_string()), Ok(text));
    }

    #[test]
    fn broken_text_is_an_error_or_a_genotype(
        normal in any_cell(),
        reduction in any_cell(),
        at in any::<prop::sample::Index>(),
        other in any::<char>(),
    ) {
        let mut text: Vec<char> = Genotype { normal, reduction }.to_string().chars().collect();
        let at = at.index(text.len());
        text[at] = other;
        let _ = read(&text.iter().collect::<String>());
        text.truncate(at);
        prop_assert!(read(&text.into_iter().collect::<String>()).is_err());
    }

    #[test]
    fn garbage_never_panics(words in vec(select(vec![
        "Genotype", "(", ")", "[", "]", "normal", "reduce", "_concat", "=", ",", "'", "\"", "none",
        "range", "0", "2", "99999999999999999999999", "\n", " ", "é", "-", "skip_connect",
    ]), 0..40)) {
        let _ = read(&words.concat());
    }
}

#[test]
fn what_python_files_have_around_it_is_read() {
    let plain = read(&format!("Genotype({NORMAL}, {REDUCE})")).unwrap();
    let concat = "normal_concat=range(2, 3), reduce_concat=[2,]";
    for text in [
        format!("DARTS_V2 = Genotype(\n  {REDUCE},\n  {NORMAL},\n)\n\n"),
        format!("Genotype({NORMAL}, {REDUCE}, {concat})"),
        format!("Genotype({concat},{NORMAL},{REDUCE},)").replace('\'', "\""),
    ] {
        assert_eq!(read(&text), Ok(plain.clone()), "{text}");
    }
    assert_eq!(
        plain.to_string(),
        "Genotype(normal=[('none', 0), ('sep_conv_3x3', 1)], normal_concat=[2], \
         reduce=[('max_pool_3x3', 1), ('skip_connect', 0)], reduce_concat=[2])"
    );
}

#[test]
fn errors_say_what_and_where_and_what_to_do() {
    let with_normal =
        |normal: &str| complaint(&format!("Genotype(\nnormal=[{normal}],\n{REDUCE})"));
    for (normal, said) in [
        (
            "('none', 0), ('conv', 1)",
            "line 2, column 24: there is no operation 'conv': give one of none, ",
        ),
        ("('none', 2), ('none', 0)", "the normal cell: node 2 reads node 2: give one of 0 to 1"),
        ("('none', 99999999999999999999), ('none', 0)", "the normal cell: node 2 reads node 1844"),
        ("('none', 0)", "the normal cell has 1 pairs, an odd number: give two for each step"),
        ("", "the normal cell: it has 0 steps: give 1 to 8, each as two pairs"),
        ("('none', -1)", "line 2, column 18: '-' stands where a node, as 0 should"),
        ("('none', 0x1)", "line 2, column 18: '0x1' stands where a node, as 0 should"),
        ("('none', 1.5)", "line 2, column 19: '.' stands where ')' should"),
        ("('none)", "line 2, column 18: '\\n' stands where a quote should"),
        (
            "none",
            "line 2, column 9: 'n' stands where a pair, as ('skip_connect', 0), or ']' should",
        ),
    ] {
        let found = with_normal(normal);
        assert!(found.starts_with(said), "{normal}: {found}");
    }
    for (text, said) in [
        (String::new(), "line 1, column 1: the end stands where 'Genotype(' should"),
        ("{}".to_owned(), "line 1, column 1: '{' stands where 'Genotype(' should"),
        ("a = b".to_owned(), "line 1, column 5: 'b' stands where 'Genotype(' should"),
        (format!("Genotype({REDUCE})"), "the normal cell is missing: add normal=[…]"),
        (format!("Genotype({NORMAL})"), "the reduce cell is missing: add reduce=[…]"),
        (
            format!("Genotype({NORMAL}, {NORMAL}"),
            "line 1, column 53: 'normal' stands a second time",
        ),
        (
            format!("Genotype({NORMAL}, x=3)"),
            "line 1, column 53: there is no part 'x': give normal, ",
        ),
        (
            format!("Genotype({NORMAL} {REDUCE})"),
            "line 1, column 52: 'r' stands where ',' or ')' should",
        ),
        (
            format!("Genotype({NORMAL}, {REDUCE}) + 1"),
            "line 1, column 104: '+' stands where the end should",
        ),
        (
            format!("Genotype({NORMAL}, {REDUCE}"),
            "line 1, column 102: the end stands where ',' or ')' should",
        ),
    ] {
        let found = complaint(&text);
        assert!(found.starts_with(said), "{text}: {found}");
    }
}

#[test]
fn joined_nodes_are_steps_in_order() {
    for (concat, said) in [
        ("[]", "the normal cell: it joins no nodes"),
        ("[1]", "the normal cell: it joins node 1: give nodes of 2 to 2"),
        ("[3]", "the normal cell: it joins node 3: give nodes of 2 to 2"),
        ("range(3, 2)", "the normal cell: it joins no nodes"),
        ("range(2, 4)", "the normal cell: it joins node 3"),
        ("range(2, 4000000000)", "line 1, column 33: the list has more than 8 entries"),
        ("[2, 2]", "the normal cell: it joins node 2 twice or out of order"),
        ("set(2)", "line 1, column 24: 'set' stands where a list of nodes"),
    ] {
        let found = complaint(&format!("Genotype(normal_concat={concat}, {NORMAL}, {REDUCE})"));
        assert!(found.starts_with(said), "{concat}: {found}");
    }
}

#[test]
fn long_texts_end_early() {
    let pairs = "('none', 0),".repeat(17);
    let found = complaint(&format!("Genotype(normal=[{pairs}], {REDUCE})"));
    assert_eq!(
        found,
        "line 1, column 210: the list has more than 16 entries, and a cell at most 8 steps"
    );
    let found = complaint(&" ".repeat(MOST_BYTES + 1));
    assert_eq!(found, "the text has 16385 bytes: give a genotype of at most 16384");
    let name = "é".repeat(5000);
    let found = complaint(&format!("Genotype(normal=[('{name}', 0)])"));
    assert!(found.chars().count() < 400, "{found}");
    let found = complaint(&format!("Genotype({}=1)", "x".repeat(5000)));
    assert!(found.chars().count() < 400, "{found}");
}
