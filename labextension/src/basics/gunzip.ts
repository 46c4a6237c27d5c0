const PIECE = 2 ** 16;

/** Unpacks gzip data of at most so many bytes; throws if there are more. */
export async function gunzip(packed: Uint8Array, most: number): Promise<Uint8Array> {
  const reader = pieces(packed).pipeThrough(new DecompressionStream("gzip")).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > most) {
        throw new RangeError(`> ${most}`);
      }
      chunks.push(next.value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error;
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** The bytes in small pieces, so that we notice an attack before it unpacks too much. */
function pieces(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let offset = 0;
  return new ReadableStream({
    pull(controller) {
      if (offset < bytes.length) {
        controller.enqueue(bytes.slice(offset, offset + PIECE));
        offset += PIECE;
      } else {
        controller.close();
      }
    },
  });
}
