/** The examples: part of the page, with a picture that needs no engine, and their files for it. */

import table from "../../page/examples.json";
import type { PageFile, Show } from "./protocol";

export interface Example {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly show: Show;
  readonly paths: readonly string[];
}

export const EXAMPLES = table as readonly Example[];

/** The payload of an example's first picture. */
export async function payloadOf({ id }: Example): Promise<Uint8Array> {
  return new Uint8Array(await (await fetched(`examples/${id}.payload`)).arrayBuffer());
}

/** The files of an example: a line of JSON with paths and sizes, then their bytes, packed. */
export async function filesOf({ id }: Example): Promise<readonly PageFile[]> {
  const { body } = await fetched(`examples/${id}.files`);
  if (body === null) {
    return [];
  }
  const unpacked = new Response(body.pipeThrough(new DecompressionStream("gzip")));
  const bytes = new Uint8Array(await unpacked.arrayBuffer());
  const end = bytes.indexOf(NEWLINE);
  const entries: readonly (readonly [string, number])[] = JSON.parse(
    new TextDecoder().decode(bytes.subarray(0, end)),
  );
  let offset = end + 1;
  return entries.map(([path, size]) => {
    const data = bytes.slice(offset, offset + size);
    offset += size;
    return { path, file: new File([data], path.slice(path.lastIndexOf("/") + 1)) };
  });
}

const NEWLINE = 10;

async function fetched(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) {
    throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  }
  return answer;
}
