/**
 * Licenses of bundled packages: each by name, version, and text, no others, and the build fails
 * without a text.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { FILE, notices, packageFolder, thirdParty } from '../../tools/build/third-party.mjs';

const folder = mkdtempSync(join(tmpdir(), 'vfscope-licenses-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
function addPackage(name: string, files: Record<string, string>): void {
  write(
    `node_modules/${name}/package.json`,
    JSON.stringify({ name, version: '1.2.3', main: 'index.js', type: 'module' }),
  );
  for (const [file, text] of Object.entries(files)) write(`node_modules/${name}/${file}`, text);
}

beforeEach(() => {
  addPackage('used', {
    'index.js': 'export const used = (n) => n + 1;',
    LICENSE: 'Text of used\r\nin lines\r\n',
    'COPYING.md': 'More of used',
  });
  addPackage('@some/scoped', {
    'index.js': `export { used as scoped } from 'used';`,
    'license.txt': 'Text of scoped',
  });
  addPackage('unused', {
    'index.js': 'export const unused = (n) => n + 2;',
    LICENSE: 'Text of unused',
  });
  addPackage('bare', { 'index.js': 'export const bare = (n) => n + 3;', 'README.md': 'MIT' });
  addPackage('copied', { 'some.wasm': '', LICENCE: 'Text of copied' });
});

async function build(source: string, copied: string[] = []): Promise<string | null> {
  write('in.js', source);
  const root = join(folder, 'out');
  const plugins = [
    resolve(),
    thirdParty([root], { [root]: copied.map((path) => join(folder, path)) }),
  ];
  const made = await rollup({ input: join(folder, 'in.js'), plugins });
  await made.write({ file: join(root, 'below/out.js'), format: 'es' });
  return existsSync(join(root, FILE)) ? readFileSync(join(root, FILE), 'utf8') : null;
}

test("bundled and copied packages are listed with their text, and excluded ones aren't", async () => {
  const text = await build(
    `import { used } from 'used'; import { unused } from 'unused'; console.log(used(1));`,
    ['node_modules/copied/some.wasm', 'in.js'],
  );
  const line = '='.repeat(80);
  expect(text).toBe(
    `This folder contains software of others, under these licenses.

${line}
copied 1.2.3
${line}

Text of copied

${line}
used 1.2.3
${line}

More of used

Text of used
in lines
`,
  );
});

test('a package without license text fails the build by name', async () => {
  await expect(build(`import { bare } from 'bare'; console.log(bare(1));`)).rejects.toThrow(
    /bare 1\.2\.3 is bundled .* no license text/,
  );
});

test("our own modules alone need no file, and an earlier build's file is deleted", async () => {
  expect(await build(`console.log(1);`, ['node_modules/copied/some.wasm'])).toContain(
    'copied 1.2.3',
  );
  expect(await build('console.log(1);')).toBeNull();
});

test('modules are assigned to their package, including nested and scoped ones', () => {
  expect(packageFolder('/a/node_modules/@b/c/dist/d.js?x')).toBe('/a/node_modules/@b/c');
  expect(packageFolder('/a/node_modules/b/node_modules/c/d.js')).toBe(
    '/a/node_modules/b/node_modules/c',
  );
  expect(packageFolder('\0/a/node_modules/b/d.js')).toBe('/a/node_modules/b');
  expect(packageFolder('src/cli/vfscope.ts')).toBeNull();
});

test('SQLite builds list what was compiled into them', () => {
  const text = notices([
    'node_modules/wa-sqlite/dist/wa-sqlite.wasm',
    'node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite.mjs',
  ]);
  for (const part of [
    ...['SQLite', 'Emscripten runtime', 'musl libc', 'PowerSync Core', 'wa-sqlite 1.0.0'],
    ...[
      'In place of\na legal notice',
      'Asyncify',
      'Copyright (c) 2023 Roy T. Hashimoto',
      'Version 2.0, January 2004',
    ],
  ])
    expect(text).toContain(part);
  expect(notices(['node_modules/wa-sqlite/src/sqlite-api.js'])).not.toContain('Emscripten');
  const core = readFileSync('node_modules/@journeyapps/wa-sqlite/powersync-version', 'utf8')
    .trim()
    .replace(/^v/, '');
  expect(text).toContain(`version ${core},`);
});
