// `npm run new:engine -- <npm package> [version]`: a row of the engine grid to fill in: an app under tests/apps/, its entry in
// tests/oracle/catalog.ts and in tools/docs/engines.mjs. Says what is left to do.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const page = (name) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${name}</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="../common/engine.css" />
  </head>
  <body data-state="loading">
    <h1>${name}</h1>
    <p>Settings: <code id="config"></code></p>
    <div class="controls">
      <label>Rows <input id="rows" type="number" value="1000" min="1" /></label>
      <button data-workload="standard">Standard workload</button>
      <button data-workload="own-sql">One transaction per row</button>
    </div>
    <pre id="error" hidden></pre>
    <pre id="result" hidden></pre>
    <script type="module" src="main.js"></script>
  </body>
</html>
`;
const main = `// The page: starts the worker that runs SQLite.
import { startPage, workerSession } from '../common/engine-page.js';

await startPage({ connect: () => workerSession('worker.js?bundle', { type: 'module' }) });
`;
const worker = (name) => `// ${name} as its README loads it.
import open from '${name}';
import { serve } from '../common/engine-worker.js';

serve({
  /** Loads the engine. @returns what it is */
  async load() {
    return { package: '${name}', sqliteVersion: null, vfs: '', build: '' };
  },

  /** Opens a new database of this name. @returns a connection: exec(sql) -> rows, close() */
  async open(name) {
    const db = await open(name);
    return { exec: (sql) => db.exec(sql), close: () => db.close() };
  },
});
`;

/** Name of the app's folder: the package's without scope and punctuation. */
export const folderOf = (name) => name.replace(/^@/, '').replace(/[^a-z0-9]+/gi, '-');

/**
 * @param {string} root of the repository
 * @param {string} name npm package
 * @returns {string[]} files written, relative to root; throws where the row is there already
 */
export function scaffold(root, name) {
  if (!/^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/.test(name))
    throw new Error(`"${name}" is no name of an npm package`);
  const app = folderOf(name);
  const folder = join('tests', 'apps', app);
  if (existsSync(join(root, folder))) throw new Error(`${folder} is there already`);
  const edit = (file, before, line) => {
    const text = readFileSync(join(root, file), 'utf8');
    const at = text.indexOf(before);
    if (at < 0) throw new Error(`${file} has no line "${before}" to put the row before`);
    return [file, text.slice(0, at) + line + text.slice(at)];
  };
  const files = [
    [join(folder, 'index.html'), page(name)],
    [join(folder, 'main.js'), main],
    [join(folder, 'worker.js'), worker(name)],
    edit(
      join('tests', 'oracle', 'catalog.ts'),
      "  app('turso opfs'",
      `  app('${app}', '/${app}/'),\n`,
    ),
    edit(join('tools', 'docs', 'engines.mjs'), '  turso:', `  '${app}': '${name}',\n`),
  ];
  mkdirSync(join(root, folder), { recursive: true });
  for (const [file, text] of files) writeFileSync(join(root, file), text);
  return files.map(([file]) => file);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const name = process.argv[2];
  if (!name) {
    console.error('usage: npm run new:engine -- <npm package>');
    process.exit(2);
  }
  try {
    const files = scaffold(join(import.meta.dirname, '../..'), name);
    console.log(`wrote\n  ${files.join('\n  ')}\n`);
    console.log(`Next:
  1. npm i -D --save-exact ${name}
  2. make ${files[2]} load it as its README tells its users (npm run apps serves the page)
  3. UPDATE_GOLDENS=1 npx vitest run --project browser tests/browser/apps.test.ts       the untraced truth; run it twice, nothing may change
  4. UPDATE_GOLDENS=1 GRID=${folderOf(name)} npx vitest run --project browser tests/browser/engines.test.ts     what is recorded: read the change
  5. npm run engines -- --write                                                          the README's table`);
  } catch (e) {
    console.error(e.message);
    process.exit(1);
  }
}
