/** Memory in use by a page and its workers in Chromium after garbage collection. */
import type { Protocol } from 'devtools-protocol';
import type { CDPSession, Page, WebWorker } from 'puppeteer-core';

/** Heap and array buffers of a page or worker, bytes. */
export async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  // Puppeteer includes an older protocol without the backing storage: tsconfig.json types its
  // sessions with our devtools-protocol
  const usage: Protocol.Runtime.GetHeapUsageResponse = await session.send('Runtime.getHeapUsage');
  return usage.usedSize + usage.backingStorageSize;
}

/** The same of a page, and of these workers. */
export async function heapOfPage(page: Page, workers: readonly WebWorker[] = []): Promise<number> {
  const session = await page.createCDPSession();
  try {
    let bytes = await heapOf(session);
    for (const worker of workers) bytes += await heapOf(worker.client);
    return bytes;
  } finally {
    await session.detach();
  }
}
