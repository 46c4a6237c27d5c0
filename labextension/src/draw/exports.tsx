/** The files of the menu *Export*: the drawing on screen, or a format of the kernel. */

import { useState } from "preact/hooks";
import * as WORDS from "../basics/strings";
import { whyWords } from "../basics/text";
import { bytesIn } from "../host/shared";
import { EXPORTS, type Kernel } from "../kernel/kernel";
import type { State } from "../state/state";
import { Alert } from "./alert";
import type { Typesetter } from "./measure";
import { pictureOf } from "./picture";
import { save } from "./save";

interface ExportsProps {
  readonly state: State;
  readonly typesetter: Typesetter;
  /** The element of the explorer, whose styles the drawing keeps. */
  readonly root: () => HTMLElement;
  readonly kernel: Kernel | null;
  /** Called once a file is saved. */
  readonly onSaved: () => void;
}

/** The largest side of a canvas that browsers support, in pixels. */
const MAX_SIDE = 16_000;
const MAX_AREA = 200e6;
const PNG_SCALE = 2;

export function Exports({ state, typesetter, root, kernel, onSaved }: ExportsProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const doing = (work: () => Promise<void>) => () => {
    setProblem(null);
    work().then(onSaved, (error: unknown) => setProblem(whyWords(error)));
  };
  const picture = () => pictureOf(root(), state, typesetter);
  const offered = [...drawn(picture), ...(kernel === null ? [] : written(kernel))];
  return (
    <>
      {offered.map(({ label, write }) => (
        <button key={label} type="button" onClick={doing(write)}>
          {label}
        </button>
      ))}
      <Alert words={problem} />
    </>
  );
}

/** The files that the page writes itself. */
const DRAWINGS = [
  { suffix: "svg", label: WORDS.drawings.svg, draw: svgBlob },
  { suffix: "png", label: WORDS.drawings.png, draw: rasterized },
] as const;

/** A file that the menu offers. */
interface Offer {
  readonly label: string;
  write(): Promise<void>;
}

function drawn(picture: () => string): readonly Offer[] {
  return DRAWINGS.map(({ suffix, label, draw }) => ({
    label,
    write: async () => save(`checkpoint-drawing.${suffix}`, await draw(picture())),
  }));
}

function written(kernel: Kernel): readonly Offer[] {
  return EXPORTS.map(({ format, label }) => ({
    label,
    async write() {
      const { name = "", type = "", buffers } = await kernel({ ask: "file", format });
      save(name, new Blob([bytesIn(buffers[0]).slice()], { type }));
    },
  }));
}

async function svgBlob(svg: string): Promise<Blob> {
  return new Blob([svg], { type: "image/svg+xml" });
}

/** Draws an SVG as PNG, in full size or the largest size that a browser supports. */
async function rasterized(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(await svgBlob(svg));
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
