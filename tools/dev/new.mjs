// `npm run new -- engine PACKAGE` or `npm run new -- finding SUBJECT NAME`: creates the files to
// fill in. Prints the remaining steps.
import { join } from 'node:path';
import { loadTs } from './load-ts.mjs';

const root = join(import.meta.dirname, '../..');
/** Each is a module tools/dev/new-KIND.ts, with its arguments. */
const KINDS = { engine: 'PACKAGE', finding: 'SUBJECT NAME' };

const [kind, ...words] = process.argv.slice(2);
if (!KINDS[kind] || words.length !== KINDS[kind].split(' ').length) {
  for (const [name, takes] of Object.entries(KINDS))
    console.error(`npm run new -- ${name} ${takes}`);
  process.exit(2);
}
const { scaffold, next } = await loadTs(`new-${kind}`, `tools/dev/new-${kind}.ts`);
try {
  console.log(`wrote\n  ${scaffold(root, ...words).join('\n  ')}\n\nNext:${next(...words)}`);
} catch (e) {
  console.error(e.message);
  process.exit(1);
}
