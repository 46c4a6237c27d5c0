/** Python code for kernels: esbuild puts the text here (package.json, "build:lab"). */
declare module "*.py" {
  const text: string;
  export default text;
}
