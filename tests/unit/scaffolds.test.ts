// `npm run new`: the scaffolds fit the current files that they edit.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { scaffold as newEngine } from '../../tools/dev/new-engine.ts';
import { scaffold as newFinding } from '../../tools/dev/new-finding.ts';

let root = '';
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'vfscope-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));
const copy = (...files: string[]): void => {
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(file, join(root, file));
  }
};
const written = (file: string): string => readFileSync(join(root, file), 'utf8');

test('an engine: an app and its two entries, once', () => {
  copy('tests/oracle/catalog.ts', 'tools/docs/engines.ts');
  const files = newEngine(root, '@scope/new-sqlite');
  expect(files.every((file) => existsSync(join(root, file)))).toBe(true);
  expect(written('tests/oracle/catalog.ts')).toContain(
    "app('scope-new-sqlite', '/scope-new-sqlite/'),\n  app('turso opfs'",
  );
  expect(written('tools/docs/engines.ts')).toContain("'scope-new-sqlite': '@scope/new-sqlite',");
  expect(() => newEngine(root, '@scope/new-sqlite')).toThrow('exists');
  expect(() => newEngine(root, '../elsewhere')).toThrow("isn't the name of an npm package");
});

test('a finding: a rule, its registration, its trace, its section, and its record, once', () => {
  const index = 'src/analysis/findings/index.ts';
  const pages = ['docs/findings.md', 'docs/rules-tested.md'];
  copy(index, 'src/analysis/wal/rules.ts', 'tests/traces/findings/storage.ts', ...pages);
  expect(newFinding(root, 'wal', 'tooManyFrames')).toHaveLength(5);
  const [, id] = /id: '(F\d\d)'/.exec(written('src/analysis/wal/too-many-frames.ts'))!;
  expect(written(index)).toContain("import { tooManyFrames } from '../wal/too-many-frames.ts';\n");
  expect(written(index)).toContain('\n  tooManyFrames,\n];\n');
  expect(written('tests/traces/findings/storage.ts')).toContain(`rule: '${id}',`);
  for (const page of pages) expect(written(page)).toContain(`\n## ${id} TODO\n`);
  expect(() => newFinding(root, 'wal', 'tooManyFrames')).toThrow('exists');
  expect(() => newFinding(root, 'nowhere', 'tooManyFrames')).toThrow("doesn't exist");
});
