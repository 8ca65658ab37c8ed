/**
 * The npm package omits files of the Firefox extension that the Chromium extension also has; the
 * command combines both.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { grantedCopy } from '../../src/drive/granted-copy.ts';

const DIST = process.env['VFSCOPE_DIST'] ?? 'dist';
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

test('the command loads the same extension from the package as was built', () => {
  const packed = mkdtempSync(join(tmpdir(), 'vfscope-packed-'));
  const built = join(DIST, 'firefox');
  try {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
    expect(files).toContain('dist/chrome');
    expect(files).toContain('dist/firefox/*.*');
    cpSync(join(DIST, 'chrome'), join(packed, 'chrome'), { recursive: true });
    for (const name of readdirSync(built).filter((name) => name.includes('.')))
      cpSync(join(built, name), join(packed, 'firefox', name));
    const { folder, remove } = grantedCopy(join(packed, 'firefox'));
    const names = filesIn(folder);
    expect(names).toEqual(filesIn(built));
    const differ = names.filter(
      (name) => !readFileSync(join(folder, name)).equals(readFileSync(join(built, name))),
    );
    expect(differ).toEqual(['manifest.json']); // access to sites is granted
    remove();
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
});
