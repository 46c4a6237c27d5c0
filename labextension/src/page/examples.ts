/** The examples: part of the page, with a picture that needs no engine, and their files for it. */

import table from "../../page/examples.json";
import { archivedIn } from "./archive";
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

/** The files of an example. */
export async function filesOf({ id }: Example): Promise<readonly PageFile[]> {
  const { body } = await fetched(`examples/${id}.files`);
  const files = await archivedIn(body ?? new Blob().stream());
  return files.map(([path, bytes]) => {
    return { path, file: new File([bytes], path.slice(path.lastIndexOf("/") + 1)) };
  });
}

async function fetched(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) {
    throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  }
  return answer;
}
