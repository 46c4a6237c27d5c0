/** Repeats a request a few times while the server is too busy. */

const MOST = 5;
const MOST_SECONDS = 30;

/**
 * Returns the answer of `ask`. If the answer is 503 with a time to retry after, waits and asks
 * again, up to five times. Stops waiting once the caller cancels.
 */
export async function patiently(
  ask: () => Promise<Response>,
  signal?: AbortSignal,
): Promise<Response> {
  for (let left = MOST; ; left--) {
    const response = await ask();
    const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if (response.status !== 503 || left === 0 || !(seconds >= 0 && seconds <= MOST_SECONDS)) {
      return response;
    }
    await later(1000 * seconds, signal);
  }
}

function later(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) {
      stop();
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}
