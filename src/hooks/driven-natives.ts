/**
 * `vfscope record` pauses each new worker of its Chromium before the first line. It puts the hook
 * only into those that this realm follows: in any other worker, the hook's messages would reach the
 * app. This file lists the workers that it may still ask about.
 */
import { NATIVES_KEY } from '../protocol/native-workers.ts';
import { defineProperty } from '../record/reflect.ts';

/** How many workers of each address are waiting. */
const expected = new Map<string, number>();
const key = Symbol.for(NATIVES_KEY);
const bare = (url: string): string => url.replace(/#.*/s, '');

/** This realm has made a worker with that address and listens to it. */
export function expectHook(url: string): void {
  if (!expected.size)
    defineProperty(globalThis, key, { value: isExpected, configurable: true, writable: true });
  const address = bare(url);
  expected.set(address, (expected.get(address) ?? 0) + 1);
}

/** `vfscope record` asks once for each worker. */
function isExpected(url: string): boolean {
  const address = bare(url);
  const left = (expected.get(address) ?? 0) - 1;
  if (left < 0) return false;
  if (left) expected.set(address, left);
  else expected.delete(address);
  return true;
}

/** The recording is over. */
export function forgetNatives(): void {
  expected.clear();
  Reflect.deleteProperty(globalThis, key);
}
