/**
 * All that the extras take of the widget: Preact and what both draw with, so that a page has one of
 * each. `npm run build:extras` leaves their modules out. With whole modules, the widget would be larger.
 */

import { Fragment, h, render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  countWords,
  formatCount,
  onOneLine,
  sentenceText,
  shortened,
  visible,
  whyWords,
} from "../basics/text";
import { CodeButtons, CodeText } from "../draw/code";
import { Copy } from "../draw/copy";
import { Canvas, Drawing, NodeBox } from "../draw/drawing";
import { RoleIcon, SignIcon } from "../draw/icons";
import { lookOf } from "../draw/look";
import { measureWords } from "../draw/measuring";
import { scaleOfMeasure } from "../layout/measured";
import { BOX_HEIGHT } from "../layout/tidy";
import { isPartOfPicture } from "../state/camera";
import { cellSign, stateSign } from "../words/signs";
import { chunkLabel, moreWords, placeName } from "../words/words";

// biome-ignore format: one line for each module
export const GIVEN = {
  Fragment, h, render,
  useEffect, useLayoutEffect, useMemo, useRef, useState,
  countWords, formatCount, onOneLine, sentenceText, shortened, visible, whyWords,
  CodeButtons, CodeText,
  Copy,
  Canvas, Drawing, NodeBox,
  RoleIcon, SignIcon,
  lookOf,
  measureWords,
  scaleOfMeasure,
  BOX_HEIGHT,
  isPartOfPicture,
  cellSign, stateSign,
  chunkLabel, moreWords, placeName,
};
