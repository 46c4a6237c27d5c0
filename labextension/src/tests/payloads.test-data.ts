/** Payloads in parts, for tests that damage them. */

import { gunzipSync } from "node:zlib";
import { payload } from "./graphs.test-data";

export type Json = Record<string, unknown>;
export interface Section {
  name: string;
  type: string;
  data: Buffer;
  /** The length that the header states, if it differs from the true one. */
  length?: unknown;
}
export interface Parts {
  header: Json;
  sections: Section[];
}

export const SIZES: Readonly<Record<string, number>> = { uint8: 1, int32: 4, float64: 8 };
const padded = (size: number) => Math.ceil(size / 8) * 8;

export function parted(name: string): Parts {
  const bytes = gunzipSync(payload(name));
  const end = 12 + bytes.readUInt32LE(8);
  const { sections: listed, ...header } = JSON.parse(bytes.toString("utf8", 12, end)) as Json & {
    readonly sections: readonly { name: string; type: string; length: number }[];
  };
  let offset = padded(end);
  const sections = listed.map(({ name: of, type, length }) => {
    const size = length * (SIZES[type] ?? 1);
    const data = Buffer.from(bytes.subarray(offset, offset + size));
    offset += padded(size);
    return { name: of, type, data };
  });
  return { header, sections };
}

/** The payload as it travels; `changeHeader` changes the header first. */
export function joined(
  { header, sections }: Parts,
  changeHeader = (header: Json): unknown => header,
): Buffer {
  const listed = sections.map(({ name, type, data, length }) => ({
    name,
    type,
    length: length ?? data.length / (SIZES[type] ?? 1),
  }));
  const text = Buffer.from(JSON.stringify(changeHeader({ ...header, sections: listed })));
  const head = Buffer.alloc(padded(12 + text.length));
  head.write("ckptviz\0", "latin1");
  head.writeUInt32LE(text.length, 8);
  text.copy(head, 12);
  const columns = sections.map(({ data }) => {
    const column = Buffer.alloc(padded(data.length));
    data.copy(column);
    return column;
  });
  return Buffer.concat([head, ...columns]);
}
