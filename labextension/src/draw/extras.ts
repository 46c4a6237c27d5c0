/**
 * The parts of the view that load when a user first asks for them. These are Play, changes of the
 * program, edited copies, values, exports, the list of keys, and Graphviz's picture.
 */

export { Actions } from "./actions";
export { ChangeStrip } from "./changing";
export { Exports } from "./exports";
export { HelpLines } from "./help-lines";
export { Play } from "./play";
export { Suggesting } from "./suggesting";
export { Textbook } from "./textbook";
export { Values } from "./values";
