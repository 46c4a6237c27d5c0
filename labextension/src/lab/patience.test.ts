import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { patiently } from "./patience";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function answer(status: number, retryAfter?: string): Response {
  return new Response("{}", {
    status,
    ...(retryAfter === undefined ? {} : { headers: { "Retry-After": retryAfter } }),
  });
}

/** A server that is busy for the given number of requests. */
function busy(times: number) {
  let left = times;
  return vi.fn(async () => (left-- > 0 ? answer(503, "2") : answer(200)));
}

test("patiently() repeats the request after the time that a busy server gives", async () => {
  const ask = busy(1);
  const answered = patiently(ask);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(ask).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect((await answered).status).toBe(200);
  expect(ask).toHaveBeenCalledTimes(2);
});

test("patiently() asks a busy server six times and then returns its refusal", async () => {
  const ask = busy(100);
  const answered = patiently(ask);
  await vi.runAllTimersAsync();
  expect((await answered).status).toBe(503);
  expect(ask).toHaveBeenCalledTimes(6);
});

test.each([
  ["a different refusal", answer(504, "2")],
  ["a 503 without a time", answer(503)],
  ["a 503 with a date", answer(503, "Wed, 21 Oct 2026 07:28:00 GMT")],
  ["a 503 with an hour", answer(503, "3600")],
])("patiently() does not wait after %s", async (_, response) => {
  const ask = vi.fn(async () => response);
  expect(await patiently(ask)).toBe(response);
  expect(ask).toHaveBeenCalledTimes(1);
});

test("patiently() stops waiting once the caller cancels", async () => {
  const ask = busy(100);
  const given = new AbortController();
  const answered = patiently(ask, given.signal);
  const failed = expect(answered).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(500);
  given.abort();
  await failed;
  await vi.runAllTimersAsync();
  expect(ask).toHaveBeenCalledTimes(1);
});
