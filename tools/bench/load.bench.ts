// The recorder under load: calls as fast as an app can make them, for a minute each (LOAD_SECONDS),
// recorded by the real panel; drops and memory.
// Needs a build: `npm run build`, or VFSCOPE_DIST.
import { join } from 'node:path';
import { launchBrowser } from '../../src/drive/browser.ts';
import { LoadDriver, type LoadKind, type Memory } from '../../tests/browser/load-driver.ts';

const SECONDS = Number(process.env.LOAD_SECONDS ?? 60);
const SAMPLES = 4;
const KEPT_SECONDS = 5;

export const title = 'Load';
export const about =
  `tests/apps/load recorded by the panel for ${SECONDS} s. ` +
  '"xRead" is SQLite (wa-sqlite, synchronous build, in memory, cache_size=0) scanning a table in a worker, ' +
  '"localStorage" and "Atomics.notify" are calls of the page without SQLite. "Made" is what the app counted itself, for each second; "kept" of a flight recorder is its last 5 s. Memory is heap ' +
  "and array buffers after a collection of garbage, at the beginning and after each quarter of the time; the browser's own rows are not in it. " +
  '"Bytes an event" is what the store worker grew by, for each event that it holds.';

interface Case {
  name: string;
  kind: LoadKind;
  rate?: number;
  keep?: number;
}
const CASES: Case[] = [
  { name: 'xRead, as fast as it goes, flight recorder', kind: 'scan', keep: KEPT_SECONDS },
  { name: 'xRead, 50,000 a second, everything kept', kind: 'scan', rate: 50_000 },
  {
    name: 'localStorage, 200,000 a second, flight recorder',
    kind: 'storage',
    rate: 200_000,
    keep: KEPT_SECONDS,
  },
  { name: 'localStorage, 200,000 a second, everything kept', kind: 'storage', rate: 200_000 },
  {
    name: 'Atomics.notify, as fast as it goes, flight recorder',
    kind: 'notify',
    keep: KEPT_SECONDS,
  },
];

const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);

async function measure(
  { name, kind, rate, keep }: Case,
  url: string,
): Promise<(string | number)[]> {
  const driven = await launchBrowser({
    extension: join(process.env.VFSCOPE_DIST ?? 'dist', 'chrome'),
  });
  try {
    const load = await LoadDriver.open(driven, url);
    await load.start(keep);
    await load.run(kind, { rate, seconds: 2 }); // warm
    const samples: Memory[] = [await load.memory()];
    const before = await load.counts();
    let [calls, ms] = [0, 0];
    for (let i = 0; i < SAMPLES; i++) {
      const made = await load.run(kind, { rate, seconds: SECONDS / SAMPLES });
      calls += made.calls;
      ms += made.ms;
      samples.push(await load.memory());
    }
    await load.stop();
    const { seen, kept, dropped } = await load.counts();
    const of = (part: keyof Memory): string => samples.map((s) => mb(s[part])).join(', ');
    const bytes =
      keep === undefined
        ? ((samples.at(-1)!.store - samples[0]!.store) / (kept - before.kept)).toFixed(0)
        : '';
    const perSecond = (n: number): string => Math.round((n / ms) * 1000).toLocaleString('en-US');
    return [
      name,
      perSecond(calls),
      perSecond(seen - before.seen),
      kept.toLocaleString('en-US'),
      dropped,
      of('page'),
      of('panel'),
      of('store'),
      bytes,
    ];
  } finally {
    await driven.close();
  }
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const { createServer } = (await import(
    new URL('../../tests/server/server.mjs', import.meta.url).href
  )) as typeof import('../../tests/server/server.mjs');
  const server = await createServer();
  const rows: (string | number)[][] = [];
  try {
    for (const one of CASES) rows.push(await measure(one, `${server.url}/load/`));
  } finally {
    await server.close();
  }
  return {
    columns: [
      'what',
      'made/s',
      'recorded/s',
      'kept',
      'dropped',
      'page MB',
      'panel MB',
      'store worker MB',
      'bytes an event',
    ],
    rows,
  };
}
