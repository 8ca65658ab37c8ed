// `npm run new -- engine PACKAGE`: creates a row of the engine grid to fill in: an app in
// tests/apps, its entry in tests/oracle/catalog.ts, and its package in tools/docs/engines.ts.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const page = (name: string): string => `<!doctype html>
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
const worker = (name: string): string => `// ${name} as its README loads it.
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
export const folderOf = (name: string): string =>
  name.replace(/^@/, '').replace(/[^a-z0-9]+/gi, '-');

/**
 * @param root of the repository
 * @param name of an npm package
 * @returns the files that were written, relative to root
 * @throws if the row exists
 */
export function scaffold(root: string, name: string): string[] {
  if (!/^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/.test(name))
    throw new Error(`"${name}" isn't the name of an npm package`);
  const app = folderOf(name);
  const folder = join('tests', 'apps', app);
  if (existsSync(join(root, folder))) throw new Error(`${folder} exists`);
  const edit = (file: string, before: string, line: string): [string, string] => {
    const text = readFileSync(join(root, file), 'utf8');
    const at = text.indexOf(before);
    if (at < 0) throw new Error(`${file} has no line "${before}" to put the row before`);
    return [file, text.slice(0, at) + line + text.slice(at)];
  };
  const files: [string, string][] = [
    [join(folder, 'index.html'), page(name)],
    [join(folder, 'main.js'), main],
    [join(folder, 'worker.js'), worker(name)],
    edit(
      join('tests', 'oracle', 'catalog.ts'),
      "  app('turso opfs'",
      `  app('${app}', '/${app}/'),\n`,
    ),
    edit(join('tools', 'docs', 'engines.ts'), '  turso:', `  '${app}': '${name}',\n`),
  ];
  mkdirSync(join(root, folder), { recursive: true });
  for (const [file, text] of files) writeFileSync(join(root, file), text);
  return files.map(([file]) => file);
}

/** The remaining manual steps. */
export const next = (name: string): string => `
  1. npm i -D --save-exact ${name}
  2. make tests/apps/${folderOf(name)}/worker.js load it as its README shows (npm run apps serves the page)
  3. UPDATE_GOLDENS=1 npx vitest run --project pages tests/browser/apps.test.ts
     what the app does when nothing records it: run it twice, nothing may change
  4. UPDATE_GOLDENS=1 GRID=${folderOf(name)} npx vitest run --project browser tests/browser/engines.test.ts
     what is recorded: read the change
  5. npm run docs`;
