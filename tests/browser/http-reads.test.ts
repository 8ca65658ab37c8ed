/**
 * A database on a server, read by synchronous requests in a worker (sql.js-httpvfs): the numbers of
 * requests and bytes match the library's own.
 */
import { expect, test } from 'vitest';
import { goTo, openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { ownersOf } from '../../src/trace/owners.ts';
import { summaryTime } from '../traces/analyses.ts';
import { createServer } from '../server/server.mjs';
import { launch, openNothing, savedStore } from './extension-harness.ts';

test('HTTP requests of a VFS are reads, and not part of its CPU time', async () => {
  const [server, driven] = await Promise.all([createServer(), launch()]);
  try {
    const page = await driven.firstPage();
    const panel = await openPanel(page);
    const origin = server.origin('http-reads');
    await openNothing(page, origin);
    await startRecording(panel);
    await goTo(page, `${origin}/httpvfs/`);
    await page.waitForSelector('body[data-state=ready]');
    const counted = await page.evaluate(
      () =>
        (globalThis as unknown as { counted: { bytes: number; requests: number; first: string } })
          .counted,
    );
    expect(counted.first).toMatch(/^Place/);
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    let [requests, bytes, us] = [0, 0, 0];
    for (const thread of store.threads) {
      const { events } = thread;
      const owners = ownersOf(thread);
      for (let row = 0; row < events.count; row++) {
        if (events.op[row] !== Op.httpXhr) continue;
        requests++;
        bytes += events.length[row]!;
        us += events.dur[row]!;
        // when the database is opened, a request for the headers alone asks for the size
        if (events.length[row]! > 0) expect(events.op[owners.vfs(row)]).toBe(Op.xRead);
        else expect(events.op[owners.sql(row)]).toBe(Op.sqlOpen);
        expect(thread.definitions.get(events.object[row]!)).toMatchObject({
          text: expect.stringMatching(/\/places\.sqlite$/) as string,
        });
      }
    }
    expect(requests).toBeGreaterThan(10);
    // the library omits the request for the size, and counts each range's last byte minus its first
    expect({ requests, bytes }).toEqual({
      requests: counted.requests + 1,
      bytes: counted.bytes + counted.requests,
    });
    expect(summaryTime(store)!.ioUs).toBeGreaterThan(0.9 * us);
  } finally {
    await driven.close();
    await server.close();
  }
});
