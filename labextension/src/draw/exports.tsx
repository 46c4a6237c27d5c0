/** The menu that hands the graph over: the drawing as one sees it, and what the kernel writes. */

import { useRef, useState } from "preact/hooks";
import { FORMATS, type Kernel } from "../kernel";
import * as WORDS from "../strings";
import { whyWords } from "../text";

interface ExportsProps {
  /** The drawing of all that is open, as an SVG file. */
  readonly picture: () => string;
  readonly kernel: Kernel | null;
}

/** Canvases of browsers end here, in pixels. */
const MAX_SIDE = 16_000;
const MAX_AREA = 200e6;
const PNG_SCALE = 2;
/** An address must live until the browser has begun to save it. */
const LIFE = 60_000;

export function Exports({ picture, kernel }: ExportsProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const doing = (work: () => Promise<void>) => () => {
    setProblem(null);
    work().then(
      () => menu.current?.removeAttribute("open"),
      (error: unknown) => setProblem(whyWords(error)),
    );
  };
  const svg = async () =>
    save("checkpoint-drawing.svg", new Blob([picture()], { type: "image/svg+xml" }));
  const png = async () => save("checkpoint-drawing.png", await rasterized(picture()));
  return (
    <details
      ref={menu}
      class="ckv-menu"
      onKeyDown={(event) => {
        if (event.key === "Escape" && menu.current?.open === true) {
          event.stopPropagation();
          menu.current.open = false;
          menu.current.querySelector("summary")?.focus();
        }
      }}
      onFocusOut={(event) => {
        const { currentTarget, relatedTarget } = event;
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) {
          currentTarget.open = false;
        }
      }}
    >
      <summary title={WORDS.exportHint}>{WORDS.exportWord}</summary>
      <div class="ckv-menu-items">
        <button type="button" onClick={doing(svg)}>
          {WORDS.exports.drawingSvg}
        </button>
        <button type="button" onClick={doing(png)}>
          {WORDS.exports.drawingPng}
        </button>
        {kernel === null
          ? null
          : FORMATS.map((format) => (
              <button
                key={format}
                type="button"
                onClick={doing(async () => {
                  const { name, type, data } = await kernel.file(format);
                  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
                  save(name, new Blob([bytes.slice()], { type }));
                })}
              >
                {WORDS.exports[format]}
              </button>
            ))}
        {problem === null ? null : (
          <p class="ckv-error" role="alert">
            {problem}
          </p>
        )}
      </div>
    </details>
  );
}

function save(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), LIFE);
}

/** Draws an SVG as PNG, as large as it is or as a browser can. */
async function rasterized(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const scale = Math.min(
      PNG_SCALE,
      MAX_SIDE / Math.max(width, height),
      Math.sqrt(MAX_AREA / (width * height)),
    );
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob === null) {
      throw new Error(WORDS.noPng);
    }
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
