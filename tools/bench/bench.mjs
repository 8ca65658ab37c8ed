// `npm run bench [-- name ...] [--write]`: every benchmark in tools/bench/, as tables; --write puts
// them into docs/benchmarks.md. A benchmark is a module that exports `title`, `about` (how to read
// it) and `run(): Promise<{columns, rows}>`.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { asShipped } from '../build/as-shipped.mjs';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'node_modules', '.cache', 'vfscope-bench');
const DOCUMENT = join(root, 'docs', 'benchmarks.md');

const chosen = process.argv.slice(2).filter((a) => !a.startsWith('--'));
const names = readdirSync(join(root, 'tools', 'bench'))
  .filter((f) => f.endsWith('.bench.ts'))
  .map((f) => f.replace('.bench.ts', ''))
  .filter((name) => chosen.length === 0 || chosen.includes(name))
  .sort();
if (names.length === 0) {
  console.error(
    `no benchmark ${chosen.join(', ')}; there are ${readdirSync(join(root, 'tools', 'bench')).join(', ')}`,
  );
  process.exit(2);
}

const table = ({ columns, rows }) =>
  [columns, columns.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => String(cell)).join(' | ')} |`)
    .join('\n');

const conditions = () =>
  `${new Date().toISOString().slice(0, 10)}, Node ${process.version.slice(1)}, ${cpus().length} x ${cpus()[0].model.trim()}, ` +
  `${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, load ${loadavg()[0].toFixed(1)}`;

mkdirSync(out, { recursive: true });
const sections = new Map();
for (const name of names) {
  const file = join(out, `${name}.mjs`);
  await build({
    entryPoints: [join(root, 'tools', 'bench', `${name}.bench.ts`)],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
    plugins: [asShipped],
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'tools', 'bench', 'x.ts')).href),
    },
  });
  const { title, about, run } = await import(pathToFileURL(file).href);
  console.error(`... ${name}`);
  const text = `## ${title}\n\n${about}\n\nConditions: ${conditions()}.\n\n${table(await run())}\n`;
  console.log(text);
  sections.set(title, text);
}

if (process.argv.includes('--write')) {
  // Keep the sections that didn't run.
  const before = readFileSync(DOCUMENT, 'utf8').split(/^(?=## )/m);
  const kept = before.slice(1).map((old) => {
    const heading = old.split('\n', 1)[0].slice(3);
    const fresh = sections.get(heading);
    sections.delete(heading);
    return fresh ?? old;
  });
  writeFileSync(
    DOCUMENT,
    `${[before[0].trimEnd(), ...[...kept, ...sections.values()].map((s) => s.trim())].join('\n\n')}\n`,
  );
}
