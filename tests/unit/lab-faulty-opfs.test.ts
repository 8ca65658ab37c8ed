/**
 * A quota counts what a writable stream stores: overwriting takes no space, however the app sets
 * the position.
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FaultState } from '../../src/lab/experiments/worker/fault-state.ts';
import { faultyOpfs } from '../../src/lab/experiments/worker/faulty-opfs.ts';

/**
 * A stream of a file of 100 bytes. Its methods do nothing, because only the requests are counted.
 */
class FakeStream {
  write(what: unknown): Promise<void> {
    return Promise.resolve(void what);
  }
  seek(position: number): Promise<void> {
    return Promise.resolve(void position);
  }
  truncate(size: number): Promise<void> {
    return Promise.resolve(void size);
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
class FakeFile {
  getFile(): Promise<{ size: number }> {
    return Promise.resolve({ size: 100 });
  }
  createWritable(options?: { keepExistingData: boolean }): Promise<FakeStream> {
    return Promise.resolve(void options).then(() => new FakeStream());
  }
}

let state: FaultState;
let puts: (() => void)[];
let stream: FakeStream;
const QUOTA = 150;
beforeEach(async () => {
  vi.stubGlobal('FileSystemFileHandle', FakeFile);
  vi.stubGlobal('FileSystemWritableFileStream', FakeStream);
  state = new FaultState();
  state.store(100, QUOTA);
  puts = faultyOpfs({
    ...{ state, quota: QUOTA, active: () => true, opened: () => {} },
    ...{ slowFlushMs: 0, refusedHandle: 0 },
  });
  stream = await new FakeFile().createWritable({ keepExistingData: true });
});
afterEach(() => {
  for (const put of puts) put();
  vi.unstubAllGlobals();
});

const bytes = (n: number): Uint8Array => new Uint8Array(n);
const full = { name: 'QuotaExceededError' };

it('overwrites at the position of seek() or the cursor', async () => {
  for (let i = 0; i < 10; i++) {
    await stream.seek(0);
    await stream.write(bytes(50));
    await stream.write(bytes(50)); // continues after it
  }
  expect(state.read('used')).toBe(100);
  await stream.write(bytes(50));
  expect(state.read('used')).toBe(150);
  await expect(stream.write(bytes(1))).rejects.toMatchObject(full);
  await stream.seek(149);
  await stream.write(bytes(1));
  expect([state.read('used'), state.tally().overQuota]).toEqual([150, 1]);
});

it('accepts commands of write() as well', async () => {
  await stream.write({ type: 'seek', position: 90 });
  await stream.write({ type: 'write', data: bytes(20) });
  await stream.write({ type: 'write', position: 0, data: bytes(20) });
  await stream.write(bytes(20));
  expect(state.read('used')).toBe(110);
});

it('shrinks and grows by truncate(), and the cursor stays inside', async () => {
  await stream.seek(100);
  await stream.truncate(30);
  expect(state.read('used')).toBe(30);
  await stream.write(bytes(20));
  expect(state.read('used')).toBe(50);
  await stream.write({ type: 'truncate', size: 150 });
  expect(state.read('used')).toBe(150);
  await expect(stream.truncate(151)).rejects.toMatchObject(full);
  await stream.close();
  expect(state.read('used')).toBe(150);
});
