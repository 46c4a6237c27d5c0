/** The archives of the site, which labextension/page/assemble.py writes. */

type Packed = ReadableStream<Uint8Array<ArrayBuffer>>;

/** The files of an archive: packed, a line of JSON with paths and sizes, then their bytes. */
export async function archivedIn(
  packed: Packed,
): Promise<readonly (readonly [string, Uint8Array<ArrayBuffer>])[]> {
  const bytes = new Uint8Array(await unpacked(packed));
  const end = bytes.indexOf(NEWLINE);
  const text = new TextDecoder().decode(bytes.subarray(0, end));
  const entries: readonly (readonly [string, number])[] = JSON.parse(text);
  let offset = end + 1;
  return entries.map(([path, size]) => {
    offset += size;
    return [path, bytes.subarray(offset - size, offset)];
  });
}

/** What gzip has packed. */
export function unpacked(packed: Packed): Promise<ArrayBuffer> {
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const NEWLINE = 10;
