/** What the values of a row say: its fill, the number in words, and the word for what is broken. */

import * as WORDS from "../basics/strings";
import { badIn, levelIn, measured } from "../layout/measured";
import type { Row } from "../layout/rows";
import type { State } from "../state/state";
import { badWord, measureWords } from "./measuring";

export interface Look {
  /** The classes of the colour. An open row has it as a line, because its parts are filled. */
  readonly fill: string;
  readonly isLined: boolean;
  readonly words: string;
  readonly bad: string;
}

export function lookOf({ graph, measure, tree }: State, row: Row): Look {
  const { chunk, id, isExpanded } = row;
  const bad = badWord(badIn(graph, tree, row));
  if (measure === null) {
    return { fill: "", isLined: false, words: "", bad };
  }
  const level = levelIn(graph, tree, row, measure);
  const number = measureWords(measure, measured(graph, tree, row, measure));
  const isOpen = isExpanded && (chunk !== null || graph.attributes(id).length === 0);
  return {
    fill: level === null ? NO_FILL : `${isOpen ? NO_FILL : FILL} ckv-level-${level}`,
    isLined: isOpen && level !== null,
    words: number === "" ? "" : `${WORDS.measures[measure]} ${number}`,
    bad,
  };
}

const FILL = " ckv-filled";
const NO_FILL = " ckv-unmeasured";
