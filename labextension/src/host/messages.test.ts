// Hosts tell of changed traits in different ways: https://anywidget.dev/en/afm/ only asks for
// one name and a callback.

import type { AnyModel } from "@anywidget/types";
import { expect, test } from "vitest";
import { onChanges } from "./messages";

type Listen = () => void;

/** A host that knows single names only, and tells of each trait before it sets the next one. */
class OneByOne {
  traits: Record<string, unknown> = {};
  private readonly listeners = new Map<string, Set<Listen>>();

  on(name: string, listen: Listen): void {
    this.listeners.set(name, (this.listeners.get(name) ?? new Set()).add(listen));
  }

  off(name: string, listen: Listen): void {
    this.listeners.get(name)?.delete(listen);
  }

  set(traits: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(traits)) {
      this.traits[name] = value;
      for (const listen of this.listeners.get(`change:${name}`) ?? []) {
        listen();
      }
    }
  }
}

function watched(isIgnored?: () => boolean) {
  const model = new OneByOne();
  const calls: { changed: string[]; traits: Record<string, unknown> }[] = [];
  const ignore = onChanges(
    model as unknown as Pick<AnyModel, "on" | "off">,
    ["payload", "edition", "selected"],
    (changed) => calls.push({ changed: [...changed], traits: { ...model.traits } }),
    isIgnored,
  );
  return { model, calls, ignore };
}

test("traits that change at a time are one call, when the model has them all", async () => {
  const { model, calls } = watched();
  const traits = { payload: "new", edition: 1, other: 0, selected: 2 };
  model.set(traits);
  expect(calls).toEqual([]);
  await Promise.resolve();
  expect(calls).toEqual([{ changed: ["payload", "edition", "selected"], traits }]);
  model.set({ selected: 3 });
  await Promise.resolve();
  expect(calls.map(({ changed }) => changed).slice(1)).toEqual([["selected"]]);
});

test("changes are ignored while they are one's own, and after the end", async () => {
  let isOwn = true;
  const { model, calls, ignore } = watched(() => isOwn);
  model.set({ selected: 1 });
  isOwn = false;
  await Promise.resolve();
  expect(calls).toEqual([]);
  model.set({ edition: 1 });
  ignore();
  model.set({ selected: 2 });
  await Promise.resolve();
  expect(calls).toEqual([]);
});
