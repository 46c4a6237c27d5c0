/** Prints the generated part of the style sheet for the build. */

import { generatedStyle } from "./style";

console.log(generatedStyle());
