// The slow-commit trigger if the end of a call was lost, or if a call only takes long.
import { expect, test } from 'vitest';
import { Op } from '../../src/event/event.ts';
import type { Frozen } from '../../src/protocol/session.ts';
import { Flight } from '../../src/viewer/session/flight.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';

const LIMIT_MS = 100;
const [OWN, OTHER] = [1, 2];

function recorded() {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const file = t.file('/app.db');
  const flight = new Flight(store, {
    keep: { kind: 'seconds', seconds: 100 },
    freezeOn: { busy: false, ioerr: false, corrupt: false, error: false, slowCommitMs: LIMIT_MS },
  });
  const send = (): Frozen | null => {
    const firstNew = t.thread.events.count;
    return flight.onBatch(t.thread, firstNew, t.send(), t.now);
  };
  const slowCommit = (context: number): void => {
    for (const aux of [1, 2]) t.call('xLock', { object: file, context, aux });
    t.call('xWrite', { object: file, context, offset: 0, length: 4096, dur: LIMIT_MS * 2000 });
    t.call('xFileControl', { object: file, context, aux: 22 });
    t.call('xUnlock', { object: file, context, aux: 0 });
  };
  return { t, file, flight, send, slowCommit };
}

test.each([OWN, 0])(
  'a call whose end was lost no longer counts once its connection (%i) continues',
  (context) => {
    const { t, file, send, slowCommit } = recorded();
    t.call('xFileSize', { object: file, context, open: true });
    expect(send()).toBeNull();
    slowCommit(context);
    expect(send()).toMatchObject({ text: expect.stringContaining('a commit that took') as string });
  },
);

test('also inside a statement', () => {
  const { t, file, send, slowCommit } = recorded();
  t.call('sqlStep', { context: OWN }, () =>
    t.call('xFileSize', { object: file, context: OWN, open: true }),
  );
  t.call('sqlStep', { context: OWN }, () => slowCommit(OWN));
  expect(send()).not.toBeNull();
});

test("a call that still runs is waited for: other calls that begin meanwhile, or that it makes, don't mean that it ended", () => {
  const { t, file, flight, send } = recorded();
  for (const aux of [1, 2]) t.call('xLock', { object: file, context: OWN, aux });
  const write = t.call(
    'xWrite',
    { object: file, context: OWN, offset: 0, length: 4096, open: true },
    () => t.call('xFileSize', { object: file, context: OWN }),
  );
  t.idle(LIMIT_MS * 2000);
  t.call('xRead', { object: t.file('/other.db'), context: OTHER, offset: 0, length: 100 });
  expect(send()).toBeNull();
  const { thread } = t;
  const late = thread.append(
    batchOf(thread.info, 5, [[t.now, t.now, write, 100, Op.end, 0, NaN, 0, 0, 0, 0, 0, 0]]),
  );
  expect(flight.onBatch(thread, thread.events.count, late, t.now)).toBeNull();
  const rest = batchOf(thread.info, 6, [
    [t.now, t.now + 1, 101, 102, Op.xFileControl, 0, NaN, 0, file, 0, OWN, 22, 0],
    [t.now, t.now + 1, 103, 104, Op.xUnlock, 0, NaN, 0, file, 0, OWN, 0, 0],
  ]);
  const firstNew = thread.events.count;
  expect(flight.onBatch(thread, firstNew, thread.append(rest), t.now)).not.toBeNull();
});
