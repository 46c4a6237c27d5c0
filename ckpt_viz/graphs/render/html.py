"""The explorer as one HTML file that needs no network, no kernel and no Jupyter.

The file holds the widget's own bundle, its style and the payload. Its policy allows only that one
script, identified by its hash, and no requests. The payload is base64, so that no name can break
out of it. Without scripts the file shows the static outline.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckpt_viz.errors import UnsupportedError
from ckpt_viz.graphs.object_graph.graph import Graph
from ckpt_viz.graphs.overlay.overlay import Overlay
from ckpt_viz.graphs.render import payload
from ckpt_viz.graphs.render.comparison_svg import comparison_svg
from ckpt_viz.graphs.render.palette import DARK, LIGHT
from ckpt_viz.graphs.render.svg import to_svg
from ckpt_viz.graphs.render.svg_parts import STYLE
from ckpt_viz.graphs.render.text import shortened
from ckpt_viz.ground.text import sendable

if TYPE_CHECKING:
    from ckpt_viz.graphs.search.measures import Measures

_STATIC = Path(__file__).parents[2] / "static"
# The end of a module from esbuild: the export that anywidget imports. A script in a page exports
# nothing.
_EXPORT = re.compile(r"export\s*\{\s*([\w$]+) as default\s*\};?\s*$")
_DEFAULT = "export default "  # begins the module of what the widget loads on request

_PAGE_STYLE = f"""
:root {{ color-scheme: light dark; }}
html, body {{
  height: 100%; margin: 0; background: light-dark({LIGHT["back"]}, {DARK["back"]});
}}
#explorer > .ckpt-viz {{ height: 100vh; max-height: none; border: 0; }}
noscript {{ display: block; overflow: auto; }}
"""

# The traits of a new Explorer.
_IDS = ("selected", "expanded")  # sent with the number of their graph
_STATE: dict[str, Any] = {
    **{"_edition": 0, "selected": None, "expanded": None},
    **{"query": "", "mode": "highlight", "view": None, "measure": None, "step": None},
}
# The model methods that the widget calls. Without a kernel, only the address sets a trait, `step`.
_MOUNT = """
const payload = document.getElementById("payload").textContent;
const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
const state = JSON.parse(document.getElementById("state").textContent);
state._payload = new DataView(bytes.buffer);
const changes = new EventTarget();
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  on: (name, call) => changes.addEventListener(name, call),
  off: (name, call) => changes.removeEventListener(name, call),
  save_changes: () => showStep(),
};
const steps = document.getElementById("steps");
// The address ends in "#step=12" while step 12 is shown, so that it leads there.
const showStep = () => {
  const [address] = location.href.split("#");
  try {
    history.replaceState(null, "", state.step === null ? address : `${address}#step=${state.step}`);
  } catch {} // the page is in a frame without an address
};
// All that is no step of this restore changes nothing.
const followAddress = () => {
  const number = Number(/^#step=([1-9][0-9]*)$/.exec(location.hash)?.[1]);
  if (number <= Number(steps?.dataset.count)) {
    state.step = number;
    changes.dispatchEvent(new Event("change:step"));
  }
};
followAddress();
addEventListener("hashchange", followAddress);
const played = steps?.textContent;
explorer.render({ model, el: document.getElementById("explorer"), makeExtras, played });
// The page has nothing else that keys could mean.
addEventListener("keydown", (event) => {
  const view = document.querySelector("#explorer > .ckpt-viz");
  if (event.target === document.body && !view.dispatchEvent(new KeyboardEvent("keydown", event))) {
    event.preventDefault();
  }
});
"""


def to_html(
    graph: Graph,
    overlay: Overlay | None = None,
    measures: Measures | None = None,
    *,
    notes: Iterable[str] = (),
    state: Mapping[str, Any] | None = None,
    steps: tuple[Mapping[str, Any], Sequence[bytes]] | None = None,
) -> str:
    """Return a page that shows the explorer.

    Args:
        graph: The graph to show.
        overlay: The comparison laid over this graph, if any.
        measures: What the values of each node measure, if these were read.
        notes: Sentences about the sources, for the static outline.
        state: Traits of an Explorer, such as `selected`, if they differ from the defaults.
        steps: The restore of a check step by step, as a kernel would answer.

    Raises:
        UnsupportedError: The front end is missing, as in sources that were not built.
    """
    traits = {**_STATE, **(state or {})}
    for name in _IDS:
        if traits[name] is not None:
            traits[name] = {"of": _STATE["_edition"], "ids": traits[name]}
    script = f"{_bundle()}{{{_MOUNT}}}\n"  # a block: names of the bundle are short, and change
    style = f"{_inside('style', _built('widget.css'))}{_PAGE_STYLE}"
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)}",
            f"style-src {_hash(style)} {_hash(STYLE)}",
            "img-src blob:",  # for converting the drawing to a PNG
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    picture = to_svg(graph, notes=notes) if overlay is None else comparison_svg(overlay)
    encoded = base64.b64encode(payload.encode(graph, overlay, measures)).decode("ascii")
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{html.escape(shortened(graph.title))} - ckpt-viz</title>\n",
            f"<style>{style}</style>\n</head>\n<body>\n",
            '<div id="explorer"></div>\n',
            f"<noscript>\n{picture}</noscript>\n",
            f'<script type="application/json" id="state">{_json(traits)}</script>\n',
            f'<script type="text/plain" id="payload">{encoded}</script>\n',
            "" if steps is None else _steps_element(*steps),
            f'<script type="module">{script}</script>\n',
            "</body>\n</html>\n",
        )
    )


def _steps_element(data: Mapping[str, Any], buffers: Sequence[bytes]) -> str:
    number = len(buffers[0])  # the column of actions has a byte for each step
    text = packed(data, buffers)
    return f'<script type="text/plain" id="steps" data-count="{number}">{text}</script>\n'


def packed(data: Mapping[str, Any], buffers: Sequence[bytes]) -> str:
    """Return the steps of a restore, the parts of an answer, for a page that has no kernel."""
    texts = [base64.b64encode(buffer).decode("ascii") for buffer in buffers]
    try:
        encoded = json.dumps([data, texts], ensure_ascii=False).encode()
    except UnicodeEncodeError:  # a name with a lone surrogate
        encoded = json.dumps([sendable(data), texts]).encode()
    zipped = gzip.compress(encoded, compresslevel=6, mtime=0)
    return base64.b64encode(zipped).decode("ascii")


def check_built() -> None:
    """Raise UnsupportedError if the front end is missing."""
    for name in ("widget.js", "extras.js", "widget.css"):
        _built(name)


def _bundle() -> str:
    """Return the widget's modules as one script, with `explorer` and `makeExtras`."""
    module = _built("widget.js")
    script, replaced = _EXPORT.subn(r"const explorer = \1;", module)
    if not replaced:
        raise UnsupportedError(
            f"{_STATIC / 'widget.js'}: expected a module that ends in its default export"
        )
    extras = _built("extras.js").removeprefix(_DEFAULT)
    both = f"{script}\nconst makeExtras = {extras}\n"
    return _inside("script", both).replace("<!--", "<\\!--")


def _inside(element: str, text: str) -> str:
    """Return a script or a style that cannot end its own element."""
    return re.sub(rf"</(?={element})", r"<\\/", text, flags=re.IGNORECASE)


def _json(data: object) -> str:
    """Return JSON that neither ends its script element nor starts a comment."""
    return json.dumps(data).replace("<", "\\u003c")


def _built(name: str) -> str:
    try:
        # As a browser reads it: the hash covers these characters.
        return (_STATIC / name).read_text("utf-8").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise UnsupportedError(
            f"{_STATIC / name}: the explorer's front end is not built; run pip install to build it"
        ) from error


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
