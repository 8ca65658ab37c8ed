/** Documents that `vfscope record` holds until the recording is ready: each is let go. */
import { EventEmitter } from 'node:events';
import type { Page } from 'puppeteer-core';
import { expect, test, vi } from 'vitest';
import { holdPages } from '../../src/drive/held-pages.ts';

/** A page whose browser asks for documents. */
async function held(ready: (url: string) => Promise<void>): Promise<{
  ask: (requestId: string, frameId?: string) => void;
  letGo: string[];
}> {
  const letGo: string[] = [];
  const session = Object.assign(new EventEmitter(), {
    send(method: string, params: { requestId: string }): Promise<unknown> {
      if (method === 'Fetch.continueRequest') letGo.push(params.requestId);
      return Promise.resolve({ frameTree: { frame: { id: 'main' } } });
    },
  });
  await holdPages({ createCDPSession: async () => session } as unknown as Page, ready);
  return {
    letGo,
    ask: (requestId, frameId = 'main') =>
      void session.emit('Fetch.requestPaused', {
        ...{ requestId, frameId },
        request: { url: `http://app.test/${requestId}` },
      }),
  };
}

test("the page's request waits until its address is ready, a frame's does not", async () => {
  let done!: () => void;
  const ready = vi.fn(() => new Promise<void>((resolve) => (done = resolve)));
  const { ask, letGo } = await held(ready);
  ask('page');
  ask('frame', 'inner');
  await vi.waitFor(() => expect(letGo).toEqual(['frame']));
  expect(ready.mock.calls).toEqual([['http://app.test/page']]);
  done();
  await vi.waitFor(() => expect(letGo).toEqual(['frame', 'page']));
});

test('it comes also where the panel fails', async () => {
  const { ask, letGo } = await held(() => Promise.reject(new Error('the panel is closed')));
  ask('page');
  await vi.waitFor(() => expect(letGo).toEqual(['page']));
});
