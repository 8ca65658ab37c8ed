/**
 * No false alarm: on well-tuned apps no finding saves more than 2 % of the time while SQL runs.
 * Findings below that are printed.
 */
import { test } from 'vitest';
import { judgeTuned } from '../browser/record-tuned.ts';
import { TUNED_APPS } from '../oracle/tuned.ts';

test.each(TUNED_APPS)('$id', async (app) => {
  const lines = await judgeTuned(app);
  console.info(`${app.id}: ${lines.length} findings`, lines);
});
