// The browser's report about an origin's storage: who may send it, where it is stored, and how it
// is used.
import { describe, expect, it } from 'vitest';
import { isThreadMessage } from '../../src/protocol/messages.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { isStorageHealth, type StorageDefinition } from '../../src/event/storage-health.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { storageHealthOf } from '../traces/analyses.ts';

const said = (
  when: 'start' | 'stop',
  usage: number | null,
  origin = 'https://app.example',
): StorageDefinition => ({
  ...{ kind: 'storage', id: 0, when, origin },
  ...{ quota: 1000, usage, persisted: false },
});

describe('storage of an origin', () => {
  it('is the newest report, with its arrival time', () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    for (const d of [
      said('start', 10),
      said('start', 99, 'https://two.example'),
      said('stop', 250),
    ])
      t.say(d);
    t.call('xRead');
    t.send();
    expect(storageHealthOf(store)).toEqual([
      { origin: 'https://app.example', quota: 1000, usage: 250, persisted: false, grownBytes: 240 },
      { origin: 'https://two.example', quota: 1000, usage: 99, persisted: false, grownBytes: null },
    ]);
  });

  it("goes into the file, and without the origin's name into a copy to share", async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.say(said('start', null));
    t.say({ ...said('stop', 5), quota: 'much' } as unknown as StorageDefinition);
    t.call('xRead');
    t.send();
    const { store: read } = await readTrace(await saveTrace(store));
    expect(read.threads[0]!.storage).toEqual([said('start', null)]); // malformed parts are left out
    const copy = sanitizeStore(read);
    expect(copy.threads[0]!.storage).toHaveLength(1);
    expect(JSON.stringify(copy.threads[0]!.said)).not.toContain('app.example');
  });

  it("can't be set by a page", () => {
    const info = newStore().thread({
      id: 't',
      kind: 'page',
      url: '',
      name: '',
      parent: null,
      timeOrigin: 0,
    }).info;
    const message = (definitions: StorageDefinition[]) => ({
      k: 'batch',
      batch: batchOf(info, 0, [], definitions),
    });
    expect(isThreadMessage(message([]))).toBe(true);
    expect(isThreadMessage(message([said('start', 1)]))).toBe(false);
    for (const wrong of [{ quota: -1 }, { usage: NaN }, { persisted: 1 }, { origin: 7 }])
      expect(isStorageHealth({ ...said('start', 1), ...wrong })).toBe(false);
  });

  it('waits for its page', async () => {
    const session = new Session(() => {});
    await session.begin({ originMs: 0, spoolKey: '', devtools: null, flight: null });
    const { kind: _kind, id: _id, when: _when, ...health } = said('start', 10);
    await session.storage('start', health);
    const { port1, port2 } = new MessageChannel();
    await session.attach(port2);
    const hello = (id: string, url: string) => ({
      ...{ k: 'hello', protocol: 1, timeOrigin: 0 },
      thread: { id, kind: 'page', url, name: '', parent: null },
    });
    port1.postMessage(hello('other', 'https://two.example/'));
    port1.postMessage(hello('page', 'https://app.example/index.html'));
    const saved = async () => (await readTrace(await session.save())).store;
    await expect
      .poll(async () => storageHealthOf(await saved())[0])
      .toMatchObject({ usage: 10, grownBytes: null });
    await session.storage('stop', { ...health, usage: 40 });
    expect(storageHealthOf(await saved())[0]).toMatchObject({
      usage: 40,
      grownBytes: 30,
    });
    expect((await saved()).threads.map((t) => [t.info.id, t.storage.length])).toEqual([
      ['other', 0],
      ['page', 2],
    ]);
    port1.close();
    await session.clear();
  });
});
