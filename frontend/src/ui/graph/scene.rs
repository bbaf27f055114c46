//! Drawing the sheet on a canvas: only what is seen, and names only where they can be read.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement, Path2d};

use crate::message::{GraphFacts, GraphNode, NodeRole};
use crate::view_model::graph::{
    Camera, Lit, NODE_HEIGHT, NODE_WIDTH, Palette, Sheet, label, label_place, net_path, node_top,
    outline,
};

/// Below this scale names are left out, below the other shapes.
const NAMES: f64 = 0.4;
const SHAPES: f64 = 0.6;

/// Path data of a band, made into what a canvas takes when it is first seen.
struct Pieces {
    families: Vec<Option<Path2d>>,
    ports: Option<Path2d>,
    opaque: Option<Path2d>,
    edges: Option<Path2d>,
}

/// What is drawn.
#[derive(Default)]
pub struct Scene {
    pub graph: Rc<GraphFacts>,
    pub sheet: Rc<Sheet>,
    /// What is seen of it; nothing until the size of the canvas is known.
    pub camera: Option<Camera>,
    /// Size of the canvas in CSS pixels.
    pub view: [f64; 2],
    /// What is lit up.
    pub lit: Lit,
    /// The node that keys have reached.
    pub chosen: Option<usize>,
    /// Whether the pointer has chosen last: what it points at is in view.
    pub was_clicked: bool,
    pieces: Vec<Option<Pieces>>,
    far: Option<Path2d>,
    is_asked: bool,
}

/// A scene that callbacks share.
pub type Shared = Rc<RefCell<Scene>>;

impl Scene {
    /// Takes another graph; it is shown from its beginning.
    pub fn take(&mut self, graph: Rc<GraphFacts>, sheet: Rc<Sheet>) {
        self.pieces = sheet.bands.iter().map(|_| None).collect();
        self.far = path(&sheet.far);
        self.graph = graph;
        self.sheet = sheet;
        self.camera = None;
    }

    /// What is seen.
    pub fn camera(&mut self) -> Camera {
        let first = self.graph.nodes.first().map_or(0.0, |node| f64::from(node.x));
        let (sheet, view) = (self.sheet.size, self.view);
        *self.camera.get_or_insert_with(|| Camera::start(sheet, view, first))
    }

    /// Changes what is seen.
    pub fn look(&mut self, change: impl FnOnce(Camera) -> Camera) {
        let changed = change(self.camera()).held(self.sheet.size, self.view);
        self.camera = Some(changed);
    }

    /// Brings a node into view.
    pub fn show(&mut self, node: usize) {
        let Some(node) = self.graph.nodes.get(node) else { return };
        let (x, top) = (f64::from(node.x), node_top(node));
        let (half, view) = (NODE_WIDTH / 2.0, self.view);
        let place = [x - half, top, x + half, top + NODE_HEIGHT];
        self.look(|camera| camera.showing(place, view));
    }

    fn paint(&mut self, canvas: &HtmlCanvasElement) -> Result<(), JsValue> {
        let Some(window) = web_sys::window() else { return Ok(()) };
        let density = window.device_pixel_ratio().clamp(1.0, 3.0);
        let [width, height] = self.view;
        if width < 1.0 || height < 1.0 {
            return Ok(());
        }
        let pixels = [width, height].map(|length| (length * density).round() as u32);
        if [canvas.width(), canvas.height()] != pixels {
            canvas.set_width(pixels[0]);
            canvas.set_height(pixels[1]);
        }
        let Some(context) = canvas.get_context("2d")? else { return Ok(()) };
        let context: CanvasRenderingContext2d = context.unchecked_into();
        let Some(palette) = palette(canvas) else { return Ok(()) };
        let camera = self.camera();
        context.set_transform(density, 0.0, 0.0, density, 0.0, 0.0)?;
        context.set_fill_style_str(&palette.surface);
        context.fill_rect(0.0, 0.0, width, height);
        let scale = density * camera.scale;
        context.set_transform(scale, 0.0, 0.0, scale, density * camera.x, density * camera.y)?;
        let [[left, top], [right, bottom]] =
            [camera.sheet([0.0, 0.0]), camera.sheet([width, height])];
        self.shapes(&context, &palette, [top, bottom], camera.scale);
        self.lights(&context, &palette, camera.scale)?;
        if camera.scale >= NAMES {
            self.names(&context, &palette, [left, top, right, bottom], camera.scale)?;
        }
        Ok(())
    }

    fn shapes(
        &mut self,
        context: &CanvasRenderingContext2d,
        palette: &Palette,
        [top, bottom]: [f64; 2],
        scale: f64,
    ) {
        let sheet = Rc::clone(&self.sheet);
        let seen = sheet.seen(top, bottom);
        for index in seen.clone() {
            if let (Some(slot @ None), Some(band)) =
                (self.pieces.get_mut(index), sheet.bands.get(index))
            {
                *slot = Some(Pieces {
                    families: band.families.iter().map(|d| path(d)).collect(),
                    ports: path(&band.ports),
                    opaque: path(&band.opaque),
                    edges: path(&band.edges),
                });
            }
        }
        let bands = || self.pieces.get(seen.clone()).into_iter().flatten().flatten();
        context.set_line_width(1.25_f64.max(0.5 / scale));
        context.set_stroke_style_str(&palette.line);
        let edges = bands().filter_map(|band| band.edges.as_ref());
        edges.chain(&self.far).for_each(|edges| context.stroke_with_path(edges));
        context.set_fill_style_str(&palette.surface);
        for ports in bands().filter_map(|band| band.ports.as_ref()) {
            context.fill_with_path_2d(ports);
            context.stroke_with_path(ports);
        }
        context.set_stroke_style_str(&palette.bad);
        let dashes = js_sys::Array::of2(&5.0.into(), &3.0.into());
        let _ = context.set_line_dash(&dashes);
        for opaque in bands().filter_map(|band| band.opaque.as_ref()) {
            context.fill_with_path_2d(opaque);
            context.stroke_with_path(opaque);
        }
        let _ = context.set_line_dash(&js_sys::Array::new());
        for (index, colour) in palette.families.iter().enumerate() {
            context.set_fill_style_str(colour);
            let nodes = bands().filter_map(|band| band.families.get(index)?.as_ref());
            nodes.for_each(|nodes| context.fill_with_path_2d(nodes));
        }
    }

    /// What is lit up: the edge in the accent's colour, the node in a frame of it.
    fn lights(
        &self,
        context: &CanvasRenderingContext2d,
        palette: &Palette,
        scale: f64,
    ) -> Result<(), JsValue> {
        context.set_stroke_style_str(&palette.accent);
        if let Some(net) = self.lit.net.and_then(|net| self.graph.nets.get(net)) {
            context.set_line_width(3.0_f64.max(2.0 / scale));
            context.stroke_with_path(&Path2d::new_with_path_string(&net_path(&self.graph, net))?);
        }
        let node = |index: Option<usize>| index.and_then(|index| self.graph.nodes.get(index));
        for (node, width) in [(node(self.chosen), 3.0_f64), (node(self.lit.node), 4.0)] {
            let Some(node) = node else { continue };
            let outline = Path2d::new_with_path_string(&outline(node))?;
            context.set_line_width((width + 3.0).max((width + 2.0) / scale));
            context.set_stroke_style_str(&palette.surface);
            context.stroke_with_path(&outline);
            context.set_line_width(width.max(width / scale));
            context.set_stroke_style_str(&palette.accent);
            context.stroke_with_path(&outline);
        }
        Ok(())
    }

    fn names(
        &self,
        context: &CanvasRenderingContext2d,
        palette: &Palette,
        [left, top, right, bottom]: [f64; 4],
        scale: f64,
    ) -> Result<(), JsValue> {
        context.set_text_align("center");
        context.set_line_join("round");
        let rows = self.sheet.rows(top, bottom).iter().flatten();
        let half = NODE_WIDTH / 2.0;
        let is_seen = |node: &GraphNode| {
            let x = f64::from(node.x);
            x + half >= left && x - half <= right
        };
        let seen: Vec<(usize, &GraphNode)> = rows
            .filter_map(|index| Some((*index, self.graph.nodes.get(*index)?)))
            .filter(|(_, node)| is_seen(node))
            .collect();
        let ink = |node: &GraphNode| match node.role {
            NodeRole::Operator(_) => palette.bar_text.as_str(),
            NodeRole::Opaque(_) => palette.bad.as_str(),
            _ => palette.text.as_str(),
        };
        for (font, down) in [("600 12px", 18.0), ("11px", 33.0)] {
            context.set_font(&format!("{font} {}", palette.font));
            for (_, node) in &seen {
                context.set_fill_style_str(ink(node));
                let words = if down < 20.0 { &node.op } else { &node.name };
                context.fill_text(&label(words), f64::from(node.x), node_top(node) + down)?;
            }
        }
        if scale < SHAPES {
            return Ok(());
        }
        context.set_stroke_style_str(&palette.surface);
        context.set_line_width(4.0);
        for (index, _) in &seen {
            for net in self.sheet.made.get(*index).into_iter().flatten() {
                let place = label_place(&self.graph, &self.sheet, *net);
                let (Some([x, y]), Some(facts)) = (place, self.graph.nets.get(*net)) else {
                    continue;
                };
                let is_lit = self.lit.net == Some(*net);
                context.set_fill_style_str(if is_lit { &palette.accent } else { &palette.quiet });
                context.stroke_text(&facts.shape, x, y + 4.0)?;
                context.fill_text(&facts.shape, x, y + 4.0)?;
            }
        }
        Ok(())
    }
}

fn path(data: &str) -> Option<Path2d> {
    if data.is_empty() { None } else { Path2d::new_with_path_string(data).ok() }
}

/// Draws at the next frame, once.
pub fn redraw(scene: &Shared, canvas: &HtmlCanvasElement) {
    if std::mem::replace(&mut scene.borrow_mut().is_asked, true) {
        return;
    }
    let (scene, canvas) = (Rc::clone(scene), canvas.clone());
    let draw = Closure::once_into_js(move || {
        let mut scene = scene.borrow_mut();
        scene.is_asked = false;
        // A canvas that cannot be drawn on stays empty; the table says the same.
        let _ = scene.paint(&canvas);
    });
    if let Some(window) = web_sys::window() {
        let _ = window.request_animation_frame(draw.unchecked_ref());
    }
}

/// The colours of the theme, as they are around an element.
pub fn palette(element: &HtmlCanvasElement) -> Option<Palette> {
    let style: CssStyleDeclaration = web_sys::window()?.get_computed_style(element).ok()??;
    let colour = |name: &str| style.get_property_value(name).unwrap_or_default().trim().to_owned();
    Some(Palette {
        surface: colour("--surface"),
        text: colour("--text"),
        quiet: colour("--text-quiet"),
        line: colour("--line-strong"),
        accent: colour("--accent"),
        bad: colour("--bad"),
        families: ["--conv", "--depthwise", "--dense", "--pool", "--other"].map(colour),
        bar_text: colour("--bar-text"),
        font: colour("font-family"),
    })
}
