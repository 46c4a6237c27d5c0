declare module "snappyjs" {
  export function uncompress(compressed: Uint8Array, most?: number): Uint8Array;
}
