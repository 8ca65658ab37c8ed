// The session without a browser: what is at hand when a recording cannot start, a file does not come to its end, an export is under way.
import { afterEach, describe, expect, it } from 'vitest';
import { csv } from '../../src/formats/csv.ts';
import { Op } from '../../src/trace/event.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { PROTOCOL_VERSION } from '../../src/protocol/messages.ts';
import type { FlightOptions } from '../../src/viewer/session-api.ts';
import { Exports } from '../../src/viewer/worker/exports.ts';
import { Session } from '../../src/viewer/worker/session.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';

const recording = { originMs: 0, spoolKey: '', userAgent: '', flight: null };
const identity = { id: 'a', kind: 'page', url: 'https://app.example/', name: '', parent: null } as const;
const hello = (id: string): object => ({ k: 'hello', protocol: PROTOCOL_VERSION, timeOrigin: 0, thread: { ...identity, id } });
/** xRead, one a record. @param at the first one's number, and its time in ms */
function reads(id: string, at: number, count: number, result = 0): object {
  const rows = Array.from({ length: count }, (_, i) => {
    const [us, seq] = [(at + i) * 1000, 2 * (at + i) + 1];
    return [us, us, seq, seq + 1, Op.xRead, result, 0, 4096, 0, 0, 0, 0, 0];
  });
  return { k: 'batch', batch: batchOf({ ...identity, id, timeOrigin: 0 }, at, rows) };
}
const events = async (session: Session): Promise<number> => (await session.stats()).events;

const ports: MessagePort[] = [];
afterEach(() => ports.splice(0).forEach((port) => port.close()));
async function page(session: Session): Promise<{ port: MessagePort; heard: unknown[] }> {
  const { port1, port2 } = new MessageChannel();
  const heard: unknown[] = [];
  port1.onmessage = ({ data }) => heard.push(data);
  ports.push(port1);
  await session.attach(port2);
  return { port: port1, heard };
}
async function opened(session: Session, store: TraceStore, name = 'a.vfst'): Promise<void> {
  await session.open(await saveTrace(store), name);
}

describe('a recording', () => {
  it('that cannot start leaves the trace before it as it was', async () => {
    const session = new Session(() => {});
    await session.begin(recording);
    const { port } = await page(session);
    port.postMessage(hello('a'));
    port.postMessage(reads('a', 0, 50));
    await expect.poll(() => events(session)).toBe(50);
    await session.end(0);
    const [version, extent] = [(await session.stats()).durationUs, await session.extents()];
    await session.begin(recording);
    expect(await events(session)).toBe(0);
    await session.revert();
    expect((await session.stats()).durationUs).toBe(version);
    expect(await session.extents()).toEqual(extent);
    expect([await events(session), (await session.stats()).recording]).toEqual([50, false]);
    await session.clear();
  });

  it('that runs leaves it to be compared with', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 2000 }));
    await session.begin(recording);
    await expect(session.comparePrevious()).rejects.toThrow('not kept'); // it may come back
    await session.begun();
    await session.comparePrevious();
    await session.revert(); // too late: it runs
    expect((await session.stats()).recording).toBe(true);
    await session.clear();
  });

  it('takes in nobody who comes when it is over: a thread is told so', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 2000 }));
    const { threads } = await session.stats();
    const { port, heard } = await page(session);
    port.postMessage(hello('late'));
    await expect.poll(() => heard).toEqual([{ k: 'stop' }]);
    expect((await session.stats()).threads).toBe(threads);
  });

  it('keeps its problems few, whatever versions a page says it speaks', async () => {
    const session = new Session(() => {});
    await session.begin(recording);
    const { port } = await page(session);
    for (let protocol = 1000; protocol < 1200; protocol++) port.postMessage({ ...hello('a'), protocol });
    await expect.poll(async () => (await session.stats()).ignoredMessages).toBe(200);
    expect((await session.stats()).problems).toHaveLength(50);
    await session.clear();
  });
});

describe('a large file that is being opened', () => {
  it('gives way to one that is none: nothing is left that looks like a trace', async () => {
    const session = new Session(() => {});
    await opened(session, syntheticStore({ events: 3000 }), 'before.vfst');
    let shown = (): void => {};
    const onScreen = new Promise<void>((resolve) => (shown = resolve));
    const watched = new Session(({ k }) => k === 'opening' && shown());
    const large = expect(watched.open(await saveTrace(syntheticStore({ events: 200_000 })), 'large.vfst')).rejects.toMatchObject({
      name: 'AbortError',
    });
    await onScreen;
    await expect(watched.openOther(await saveTrace(newStore()), 'b.vfst')).rejects.toThrow('still being opened');
    const none = expect(watched.open(new Blob(['no trace at all, but some bytes of it']), 'none.vfst')).rejects.toThrow('none.vfst');
    await large;
    await none;
    const { threads, durationUs } = await watched.stats();
    expect([await events(watched), threads, durationUs]).toEqual([0, 0, 0]);
    await opened(watched, syntheticStore({ events: 3000 }));
    expect(await events(watched)).toBe(await events(session));
  });
});

describe('a flight recorder', () => {
  const freezeOn = { busy: true, ioerr: false, corrupt: false, error: false, slowCommitMs: null };
  const flight = { keep: { kind: 'seconds', seconds: 10 }, freezeOn } as FlightOptions;
  const MANY = 20_000;
  /** An export is under way until it is `written`. */
  class Writing extends Session {
    written = (): void => {};
    private held: Promise<void> | null = new Promise((resolve) => {
      this.written = () => {
        this.held = null;
        resolve();
      };
    });
    protected override get exported(): Promise<void> | null {
      return this.held;
    }
  }
  /** 20 s of calls. */
  async function flying(): Promise<{ session: Writing; port: MessagePort; heard: unknown[] }> {
    const session = new Writing(() => {});
    await session.begin({ ...recording, flight });
    await session.begun();
    const { port, heard } = await page(session);
    port.postMessage(hello('a'));
    port.postMessage(reads('a', 0, MANY));
    await expect.poll(() => events(session)).toBe(MANY);
    return { session, port, heard };
  }
  const BUSY = 5;

  it('freezes on what happens while its rows are written, and forgets when they are', async () => {
    const { session, port, heard } = await flying();
    port.postMessage(reads('a', MANY, 1, BUSY));
    port.postMessage(reads('a', MANY + 1, 5));
    await expect.poll(() => events(session)).toBe(MANY + 6);
    expect(heard).toContainEqual({ k: 'stop' });
    expect((await session.stats()).flight?.frozen?.row).toBe(MANY);
    session.written();
    await expect.poll(() => events(session)).toBe(10_000 + 6); // 10 s before the trigger, it, and what was on its way
    await session.clear();
  });

  it('that is stopped keeps the rows of an export until it has them', async () => {
    const { session } = await flying();
    await session.end(0);
    expect([await events(session), (await session.stats()).recording]).toEqual([MANY, false]);
    session.written();
    await expect.poll(() => events(session)).toBe(10_001);
    await session.clear();
  });
});

it('an export says when it is over', async () => {
  const exports = new Exports();
  expect(exports.done).toBeNull();
  const blob = exports.run(syntheticStore({ events: 2000 }), { format: 'csv', sanitize: false, title: '', origin: '' }, () => {});
  const { done } = exports;
  expect(done).not.toBeNull();
  await done;
  expect((await blob).size).toBeGreaterThan(0);
  expect(exports.done).toBeNull();
});

it('an export of a growing recording has the rows that there were when it began, each with its statement', async () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const sql = t.define({ kind: 'sql', text: 'SELECT 1' });
  const run = (n: number): void => {
    for (let i = 0; i < n; i++) t.call('sqlStep', { object: sql });
    t.send();
  };
  run(2000);
  let text = '';
  for await (const piece of csv(store)) {
    text += piece;
    if (store.eventCount < 5000) run(1000);
  }
  const rows = text.trimEnd().split('\n').slice(1);
  expect(store.eventCount).toBeGreaterThan(2000);
  expect(rows).toHaveLength(2000);
  expect(rows.every((row) => row.endsWith(',SELECT 1') && !row.includes('undefined'))).toBe(true);
});
