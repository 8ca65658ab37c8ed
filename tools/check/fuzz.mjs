// `npm run fuzz [-- --minutes M --from SEED]`, ten minutes by default: random stores, damaged and changed files, and forged messages
// through everything that is made of a trace (tests/fuzz); `--stores N --files N` runs so many of the first two and no others. Ends with exit code 1 and the seed of what failed.
import { join } from 'node:path';
import { loadTs } from '../dev/load-ts.mjs';

const root = join(import.meta.dirname, '../..');
process.chdir(root);
try {
  await loadTs('fuzz', { contents: "import { fuzz } from './tests/fuzz/run.ts'; await fuzz();" });
} catch (e) {
  console.error(e);
  process.exitCode = 1;
}
