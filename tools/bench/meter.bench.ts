// The instruction meter: how long it takes to rewrite a module, in Node and in Chromium, and the
// cost of counting for the engine.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import puppeteer from 'puppeteer-core';
import { findChromium, HOW_TO_INSTALL } from '../../src/drive/find-browser.mjs';
import { Engines } from '../../src/lab/experiments/engine/open-engine.ts';
import { textOf } from '../../src/lab/experiments/workloads/define.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { meterModule } from '../../src/lab/meter/meter.ts';

const REPEATS = Number(process.env['REPEATS'] ?? 9);
const require = createRequire(import.meta.url);
const wasmOf = (path: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(require.resolve(path)));

/**
 * The same statements run natively, gcc -Os, SQLite 3.54.1, counted by callgrind (Ir): measured
 * once, stored here for comparison.
 */
const CALLGRIND: Readonly<Record<string, number>> = {
  noindex: 414_834_370,
  index: 124_598_359,
  like: 358_601_525,
  instr: 346_816_092,
  autocommit: 25_843_747,
  onetx: 12_840_273,
  multirow: 5_187_115,
  rowid: 40_982_814,
  'without-rowid': 38_289_930,
  'micro-1': 89_965_768,
};

export const title = 'The instruction meter';
export const about =
  `wa-sqlite 2.0.6. "Rewrite" is the pass over the module, median and minimum of ${REPEATS}, fresh Chromium page for the browser's (the first call there, before the compiler ` +
  'has warmed to it). "Plain" and "metered" are milliseconds of CPU time (which other load of the machine moves less) of the same text in warm instances, minimum of interleaved runs; the ratio is what counting costs. ' +
  'Counts are exact and the same on every machine; callgrind counts native instructions of the same text. Aims: 250 ms in Chromium, 1.5, full scans 2.2.';

/** Median and minimum. */
const both = (values: readonly number[]): string => {
  const sorted = [...values].sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1]!.toFixed(0)}, ${sorted[0]!.toFixed(0)}`;
};

/** First calls in fresh pages. */
async function inChromium(bytes: Uint8Array<ArrayBuffer>): Promise<number[]> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(HOW_TO_INSTALL);
  const bundle = await build({
    stdin: {
      contents: `import { meterModule } from './src/lab/meter/meter.ts'; globalThis.meterModule = meterModule;`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
  });
  const browser = await puppeteer.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox'],
  });
  try {
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const page = await browser.newPage();
      await page.evaluate(bundle.outputFiles[0]!.text);
      times.push(
        await page.evaluate((base64) => {
          const given = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
          const start = performance.now();
          (globalThis as unknown as { meterModule: typeof meterModule }).meterModule(given);
          return performance.now() - start;
        }, Buffer.from(bytes).toString('base64')),
      );
      await page.close();
    }
    return times;
  } finally {
    await browser.close();
  }
}

async function slowdown(id: string): Promise<{ plain: number; metered: number; count: number }> {
  const engines = new Engines((path) => Promise.resolve(wasmOf(path)));
  const text = textOf(workloadOf(id).steps({}));
  const config = { engine: 'wa-sqlite-2.0.6', build: 'sync' } as const;
  const [plain, metered] = [
    await engines.open(config, 'none'),
    await engines.open(config, 'total'),
  ];
  const time = async (engine: typeof plain): Promise<number> => {
    const db = await engine.sqlite3.open_v2(':memory:');
    const start = process.cpuUsage();
    await engine.sqlite3.exec(db, text);
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    await engine.sqlite3.close(db);
    return ms;
  };
  const first = metered.instructions!();
  await time(metered);
  const count = Number(metered.instructions!() - first);
  const times = { plain: [await time(plain)], metered: [await time(metered)] };
  for (let i = 1; i < REPEATS; i++) {
    times.plain.push(await time(plain));
    times.metered.push(await time(metered));
  }
  return { plain: Math.min(...times.plain), metered: Math.min(...times.metered), count };
}

export async function run(): Promise<{ columns: string[]; rows: (string | number)[][] }> {
  const rows: (string | number)[][] = [];
  for (const name of ['wa-sqlite', 'wa-sqlite-async', 'wa-sqlite-jspi']) {
    const bytes = wasmOf(`@journeyapps/wa-sqlite/dist/${name}.wasm`);
    const times: number[] = [];
    for (let i = 0; i < REPEATS; i++) {
      const start = performance.now();
      meterModule(bytes);
      times.push(performance.now() - start);
    }
    const size = (meterModule(bytes).bytes.length / bytes.length).toFixed(2);
    rows.push([`rewrite ${name}.wasm, Node`, '', both(times), `size ${size}`, '', '']);
    rows.push([`rewrite ${name}.wasm, Chromium`, '', both(await inChromium(bytes)), '', '', '']);
  }
  for (const [id, native] of Object.entries(CALLGRIND)) {
    const { plain, metered, count } = await slowdown(id);
    rows.push([
      id,
      plain.toFixed(1),
      metered.toFixed(1),
      (metered / plain).toFixed(2),
      count.toLocaleString('en'),
      (count / native).toFixed(2),
    ]);
  }
  return {
    columns: [
      'what',
      'plain ms',
      'metered ms',
      'ratio',
      'instructions with opening',
      '/ callgrind',
    ],
    rows,
  };
}
