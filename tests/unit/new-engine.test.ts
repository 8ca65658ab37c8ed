// The scaffold of an engine's row fits the files that it edits today.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { scaffold } from '../../tools/dev/new-engine.ts';

const root = mkdtempSync(join(tmpdir(), 'vfscope-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('writes an app and its two entries, once', () => {
  mkdirSync(join(root, 'tests', 'oracle'), { recursive: true });
  mkdirSync(join(root, 'tools/docs'), { recursive: true });
  for (const file of ['tests/oracle/catalog.ts', 'tools/docs/engines.ts'])
    cpSync(file, join(root, file));
  const files = scaffold(root, '@scope/new-sqlite');
  expect(files.every((file) => existsSync(join(root, file)))).toBe(true);
  expect(readFileSync(join(root, 'tests/oracle/catalog.ts'), 'utf8')).toContain(
    "app('scope-new-sqlite', '/scope-new-sqlite/'),\n  app('turso opfs'",
  );
  expect(readFileSync(join(root, 'tools/docs/engines.ts'), 'utf8')).toContain(
    "'scope-new-sqlite': '@scope/new-sqlite',",
  );
  expect(() => scaffold(root, '@scope/new-sqlite')).toThrow('exists');
  expect(() => scaffold(root, '../elsewhere')).toThrow("isn't the name of an npm package");
});
