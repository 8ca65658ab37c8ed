// The Lab counts bytes as recordings do: a call that fails transfers none, and a short one only
// what it moved.
import { expect, test } from 'vitest';
import { VfsTally } from '../../src/lab/experiments/engine/vfs-tally.ts';
import type { EngineModule } from '../../src/lab/experiments/engine/builds.ts';
import { Rc } from '../../src/sqlite/constants.ts';

type Answer = number | Promise<number>;
const failed = (): Promise<number> => Promise.reject(new Error('lost'));

test.each<[string, () => Answer, bytes: number]>([
  ['all', () => Rc.ok, 100],
  ['short', () => Rc.shortRead, 0],
  ['failed', () => Rc.ioErr, 0],
  ['all, later', () => Promise.resolve(Rc.ok), 100],
  ['short, later', () => Promise.resolve(Rc.shortRead), 0],
  ['threw, later', failed, 0],
])('%s', async (_, answer, bytes) => {
  const vfs = { xRead: answer as (...args: unknown[]) => Answer };
  const tally = new VfsTally(vfs, 2, {} as EngineModule);
  await Promise.allSettled([vfs.xRead(1, 0, 100, 0, 0)]);
  expect(tally.read()).toMatchObject({ 'vfs.xRead': 1, 'vfs.xReadBytes': bytes });
});
