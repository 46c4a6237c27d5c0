/** Python that is sent to kernels: esbuild puts its text here (package.json, "build:lab"). */
declare module "*.py" {
  const text: string;
  export default text;
}
