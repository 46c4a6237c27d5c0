/**
 * The parts of the view that load when a user first asks for them: the fix of a check, Play, values,
 * exports, and Graphviz's picture.
 */

export { Exports } from "./draw/exports";
export { FixPane } from "./draw/fix";
export { fixMarkOf } from "./draw/fix-lines";
export { OfFix } from "./draw/fix-row";
export { Play } from "./draw/play";
export { Suggesting } from "./draw/suggesting";
export { Textbook } from "./draw/textbook";
export { Values } from "./draw/values";
export { makeFix } from "./fix";
export { endsOfMoves } from "./layout/fates";
