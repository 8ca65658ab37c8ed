/** No false alarm on a well-tuned app; the other pairs of engine and VFS: tests/long/tuned-apps.test.ts. */
import { expect, test } from 'vitest';
import { TUNED_APPS } from '../oracle/tuned.ts';
import { judgeTuned } from './record-tuned.ts';

test('WAL, one transaction for each batch, a cache that fits the database: no finding saves 2 % of the time', async () => {
  const app = TUNED_APPS[0]!;
  expect(app.pragmas).toContain('journal_mode=wal');
  await judgeTuned(app);
});
