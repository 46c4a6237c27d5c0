/**
 * The parts of the view that load when a user first asks for them. These are Play, changes of the
 * program, edited copies, values, exports, the list of keys, and Graphviz's picture.
 */

export { Actions } from "./draw/actions";
export { ChangeStrip } from "./draw/changing";
export { Exports } from "./draw/exports";
export { HelpLines } from "./draw/help-lines";
export { OtherLine } from "./draw/other-line";
export { Play } from "./draw/play";
export { Suggesting } from "./draw/suggesting";
export { Textbook } from "./draw/textbook";
export { Values } from "./draw/values";
