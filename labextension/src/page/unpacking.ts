/** What Python's package for compressed bytes does elsewhere: it has no build for the engine. */

import { Decompress } from "fzstd";
import { uncompress } from "snappyjs";

/** The content of frames of Zstandard; throws if they are damaged, or have more bytes than `most`. */
export function unpackedZstandard(data: Uint8Array, most: number): Uint8Array {
  const content = new Uint8Array(most);
  let size = 0;
  const stream = new Decompress((piece) => {
    content.set(piece, size); // throws beyond the end
    size += piece.length;
  });
  for (let start = 0; start < data.length; start += PIECE) {
    stream.push(data.subarray(start, start + PIECE), start + PIECE >= data.length);
  }
  return content.subarray(0, size);
}

/** The content of a block of Snappy; throws if it is damaged, or has more bytes than `most`. */
export function unpackedSnappy(data: Uint8Array, most: number): Uint8Array {
  return uncompress(data, most);
}

/** In pieces of this size, a small frame cannot unpack to all memory before it is counted. */
const PIECE = 2 ** 16;
