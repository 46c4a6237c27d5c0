/** What the elements of the kernel's scripts become: shorter calls than those of the JSX runtime. */

export { Fragment, h } from "preact";
