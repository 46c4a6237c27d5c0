import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { decode, PayloadError } from "./contract";
import { FIXTURES, payload } from "./graphs.test-data";

const unpacked = (): Buffer => gunzipSync(payload("keras3_adam"));

/** The fixture with its header changed, and its sections where the header's end puts them. */
function withHeader(change: (header: Record<string, unknown>) => void): Uint8Array {
  const bytes = unpacked();
  const length = bytes.readUInt32LE(8);
  const header = JSON.parse(bytes.toString("utf8", 12, 12 + length)) as Record<string, unknown>;
  change(header);
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(Math.ceil((12 + text.length) / 8) * 8);
  bytes.copy(head, 0, 0, 8);
  head.writeUInt32LE(text.length, 8);
  text.copy(head, 12);
  return gzipSync(Buffer.concat([head, bytes.subarray(Math.ceil((12 + length) / 8) * 8)]));
}

const says = (bytes: Uint8Array, what: RegExp) =>
  expect(decode(bytes)).rejects.toThrowError(
    expect.objectContaining({ message: expect.stringMatching(what) }),
  );

describe("a payload that is not as agreed is refused with its reason", () => {
  it("no gzip", () => says(new Uint8Array([1, 2, 3]), /no gzip data/));
  it("cut gzip", () => says(payload("keras3_adam").subarray(0, 200), /no gzip data/));
  it("something else", () => says(gzipSync("hello, this is text"), /is none of ckpt-viz/));
  it("cut header", () => says(gzipSync(unpacked().subarray(0, 20)), /ends within its header/));
  it("cut section", () =>
    says(gzipSync(unpacked().subarray(0, 2000)), /has 2000 bytes, but section \w+ ends at \d+/));
  it("another version", () =>
    says(
      withHeader((header) => (header.version = 2)),
      /has version 2, this ckpt-viz reads version 1/,
    ));
  it("an unknown role", () =>
    says(
      withHeader((header) => (header.roles = ["spy"])),
      /has a header without/,
    ));
  it("a missing section", () =>
    says(
      withHeader((header) => {
        (header.sections as { name: string }[])[0]!.name = "other";
      }),
      /lacks section role/,
    ));
  it("an endless section", () =>
    says(
      withHeader((header) => {
        (header.sections as { length: number }[])[0]!.length = 2 ** 40;
      }),
      /but section role ends at/,
    ));
});

it("answers any damage with a payload or a PayloadError", async () => {
  for (const name of FIXTURES) {
    const whole = gunzipSync(payload(name));
    for (let place = 0; place < whole.length; place += 7) {
      const damaged = Buffer.from(whole);
      damaged[place] = (damaged[place] ?? 0) ^ 0xff;
      await decode(gzipSync(damaged, { level: 1 })).catch((error: unknown) => {
        expect(error).toBeInstanceOf(PayloadError);
      });
    }
  }
});
