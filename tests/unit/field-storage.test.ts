// How vfscope/field counts storage calls, with platform classes that the test controls.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Ring } from '../../src/field/ring.ts';
import { hookStorage } from '../../src/field/storage.ts';
import type { Sink } from '../../src/field/sql.ts';
import { Tally } from '../../src/field/tally.ts';
import { PromiseWatch } from '../../src/record/promise-watch.ts';
import { UNSEEN_HOLDER_US } from '../../src/sqlite/rule-limits.ts';

type Granted = (lock: object | null) => unknown;
/** Grants a request when the test says so, or never. */
class LockManager {
  readonly asked: { grant: () => void; refuse: (reason: unknown) => void }[] = [];
  request(_name: string, callback: Granted): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.asked.push({ grant: () => resolve(callback({})), refuse: reject });
    });
  }
}

class FileSystemSyncAccessHandle {
  flush(): void {
    now += 3000;
  }
  write(): void {}
}

let [now, sink, reasons]: [number, Sink, string[]] = [0, null!, []];
let hooked: ReturnType<typeof hookStorage>;
beforeEach(() => {
  vi.stubGlobal('LockManager', LockManager);
  vi.stubGlobal('FileSystemSyncAccessHandle', FileSystemSyncAccessHandle);
  vi.stubGlobal('location', { origin: 'https://app.example' });
  vi.stubGlobal('navigator', { userAgent: 'test' });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  [now, reasons] = [1000, []];
  const tally = new Tally((why) => reasons.push(why));
  sink = { ring: new Ring(64), tally, hangMs: 2000, watch: new PromiseWatch(null) };
  hooked = hookStorage(sink);
});
afterEach(() => {
  hooked.restore();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
const report = () => sink.tally.report({ weight: 1, labels: {}, trace: null }, true);

test('waits for locks count from the same length as in traces', async () => {
  const locks = new LockManager();
  for (const ms of [0, UNSEEN_HOLDER_US / 1000 - 1, UNSEEN_HOLDER_US / 1000]) {
    const held = locks.request('db', () => 'held');
    now += ms;
    locks.asked.pop()!.grant();
    expect(await held).toBe('held');
  }
  expect(report()).toMatchObject({ locks: [54, 1], lockUs: UNSEEN_HOLDER_US });
});

test("a slow call requests a trace, and isn't a hang", () => {
  new FileSystemSyncAccessHandle().flush();
  expect(reasons).toEqual(['slow call: FileSystemSyncAccessHandle.flush']);
  expect(report().findings).toEqual([]);
});

test('a lock request that is granted after seconds is a hang', async () => {
  const locks = new LockManager();
  const held = locks.request('db', () => {});
  now += 2001;
  locks.asked[0]!.grant();
  await held;
  expect(reasons).toEqual(['hang: LockManager.request']);
  expect(report().findings).toEqual([['F05', 1]]);
});

test('a request that is aborted has ended', async () => {
  const locks = new LockManager();
  const held = locks.request('db', () => {});
  now += 20;
  locks.asked[0]!.refuse(new DOMException('The app aborts it', 'AbortError'));
  await expect(held).rejects.toThrow('The app aborts it');
  now += 5000;
  hooked.countHangs();
  expect(sink.ring.pending(-Infinity, Infinity)).toEqual([]);
  expect(report()).toMatchObject({ findings: [], lockUs: 20_000 });
});

test('a request that hangs counts once, however many page lives it is pending in', async () => {
  const locks = new LockManager();
  const held = locks.request('db', () => {});
  now += 2001;
  hooked.countHangs();
  expect(report().findings).toEqual([['F05', 1]]);
  sink.tally = new Tally((why) => reasons.push(why));
  now += 2001;
  hooked.countHangs();
  locks.asked[0]!.grant();
  await held;
  expect(report()).toMatchObject({ findings: [], lockUs: 4_002_000 });
  expect(reasons).toEqual(['hang: LockManager.request']);
});

test.each([
  [1, [['F05', 1]]],
  [0, []],
])('while this thread works, only a request inside an SQL call hangs (%s)', (current, found) => {
  const locks = new LockManager();
  sink.ring.current = current;
  void locks.request('db', () => {});
  sink.ring.current = 0;
  new FileSystemSyncAccessHandle().write();
  now += 2001;
  hooked.countHangs();
  expect(report().findings).toEqual(found);
});
