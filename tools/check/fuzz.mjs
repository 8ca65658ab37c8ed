// `npm run fuzz [-- --minutes M --from SEED]`, ten minutes by default: sends random stores, damaged
// and changed files, and forged messages through everything that processes traces (tests/fuzz).
// `--stores N --files N` runs only this many of the first two. On a failure, exits with 1 and
// prints the seed.
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
