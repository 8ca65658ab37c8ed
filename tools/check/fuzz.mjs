// `npm run fuzz [-- --minutes M --from SEED]`, ten minutes by default: random stores, damaged and changed files, and forged messages
// through everything that is made of a trace (tests/fuzz); `--stores N --files N` runs so many of the first two and no others. Ends with exit code 1 and the seed of what failed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadTs } from '../dev/load-ts.mjs';

const root = join(import.meta.dirname, '../..');
process.chdir(root);
const modules = readdirSync(join(root, 'src', 'analysis'), { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'));
const entry = [
  ...modules.map((name, i) => `import * as m${i} from './src/analysis/${name}';`),
  "import { fuzz } from './tests/fuzz/run.ts';",
  `await fuzz({ ${modules.map((name, i) => `${JSON.stringify(name.replace('.ts', ''))}: m${i}`).join(', ')} });`,
].join('\n');
try {
  await loadTs('fuzz', { contents: entry });
} catch (e) {
  console.error(e);
  process.exitCode = 1;
}
