/** The width of text in a font. */

import { kept } from "../basics/once";

/**
 * Large, since small characters may have whole pixels as widths, and zooming does not keep those.
 */
const MEASURED_SIZE = 96;
/** Bold letters are wider than those that we measure. */
export const BOLD = 1.08;

export type MeasureText = (text: string, fontSize: number) => number;

/**
 * Measures each character once, with a canvas and in one size, and adds the widths up. This is fast
 * for any number of names and, without kerning, a little too wide rather than too narrow. Without a
 * canvas, counts characters.
 */
export function textMeasure(fontFamily: string, weight = 400): MeasureText {
  const font = `${weight} ${MEASURED_SIZE}px ${fontFamily}`;
  return kept(known, font, measureIn);
}

const known = new Map<string, MeasureText>();

function measureIn(font: string): MeasureText {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) {
    return (text, fontSize) => [...text].length * fontSize * 0.58;
  }
  context.font = font;
  const widths = new Map<string, number>();
  const widthOf = (character: string) => context.measureText(character).width / MEASURED_SIZE;
  return (text, fontSize) => {
    let width = 0;
    for (const character of text) {
      width += kept(widths, character, widthOf);
    }
    return width * fontSize;
  };
}
