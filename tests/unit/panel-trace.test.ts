// A panel's trace on its way to the Lab: only the right key gets it, sizes and texts are validated,
// and a missing answer is reported.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import {
  isPanelAnswer,
  isPanelKey,
  MAX_PANEL_TRACE_BYTES,
  offerTrace,
  traceOfPanel,
  type PanelTrace,
} from '../../src/protocol/panel-trace.ts';

/** A browser's channel, which carries Blobs. Node's doesn't. */
class Channel {
  static readonly open = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | null = null;
  constructor(readonly name: string) {
    Channel.open.add(this);
  }
  postMessage(data: unknown): void {
    const others = [...Channel.open].filter((c) => c !== this && c.name === this.name);
    queueMicrotask(() => others.forEach((c) => Channel.open.has(c) && c.onmessage?.({ data })));
  }
  close(): void {
    Channel.open.delete(this);
  }
}
beforeAll(() => void vi.stubGlobal('BroadcastChannel', Channel));
afterAll(() => {
  vi.unstubAllGlobals();
  expect(Channel.open.size).toBe(0); // all are closed
});

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));
function offered(trace: () => Promise<PanelTrace>): string {
  const key = crypto.randomUUID();
  ends.push(offerTrace(key, trace));
  return key;
}
const trace = (text: string): PanelTrace => ({
  file: new Blob([text]),
  name: 'app.vfst',
  recording: true,
});
const patience = { answerMs: 50, writeMs: 50 };

it('is what the panel has at that moment, for every request', async () => {
  let n = 0;
  const key = offered(() => Promise.resolve(trace(`take ${++n}`)));
  const one = await traceOfPanel(key);
  expect([await one.file.text(), one.name, one.recording]).toEqual(['take 1', 'app.vfst', true]);
  const both = await Promise.all([traceOfPanel(key), traceOfPanel(key)]);
  for (const { file } of both) expect(await file.text()).toMatch(/^take [23]$/);
});

it('is reported if the panel has none, or one that is too large', async () => {
  const none = offered(() => Promise.reject(new Error('The panel has no recording yet')));
  await expect(traceOfPanel(none)).rejects.toThrow('The panel has no recording yet');
  const large = Object.defineProperty(new Blob(['x']), 'size', {
    value: MAX_PANEL_TRACE_BYTES + 1,
  });
  const key = offered(() => Promise.resolve({ ...trace(''), file: large }));
  await expect(traceOfPanel(key)).rejects.toThrow(
    /The recording has 512 MiB; the Lab takes up to 512 MiB/,
  );
});

it('is abandoned if no panel answers, or if it never ends', async () => {
  await expect(traceOfPanel(crypto.randomUUID(), patience)).rejects.toThrow(
    /doesn't answer. If you closed it/,
  );
  await expect(
    traceOfPanel(
      offered(() => new Promise(() => {})),
      patience,
    ),
  ).rejects.toThrow(/didn't finish writing/);
});

it("isn't read from an invalid answer", async () => {
  const file = new Blob(['x']);
  expect(isPanelAnswer({ k: 'trace', file, name: 'a', recording: false })).toBe(true);
  for (const wrong of [
    null,
    'trace',
    { k: 'trace' },
    { k: 'trace', file: 'x', name: 'a', recording: false },
    { k: 'trace', file, name: 1, recording: false },
  ])
    expect(isPanelAnswer(wrong)).toBe(false);
  expect(isPanelAnswer({ k: 'trace', file, name: 'a'.repeat(501), recording: false })).toBe(false);
  expect([isPanelKey(crypto.randomUUID()), isPanelKey('../x'), isPanelKey(null)]).toEqual([
    true,
    false,
    false,
  ]);
  const key = crypto.randomUUID();
  const stranger = new BroadcastChannel(`vfscope trace ${key}`);
  ends.push(() => stranger.close());
  stranger.onmessage = () => stranger.postMessage({ k: 'trace', file: 'no file' });
  await expect(traceOfPanel(key)).rejects.toThrow(/answer isn't a recording/);
});
