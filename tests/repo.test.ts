// Consistency of the repository: rooms, docs, scripts, and stored samples match the code.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOMS } from '../tools/check/rooms.mjs';
import { currentTable } from '../tools/docs/engines.ts';
import { storedTable } from '../tools/docs/support-page.ts';
import { faultsOf, listSources, unusedArrows } from '../tools/check/check-rooms.mjs';
import { FORMAT_VERSION } from '../src/trace/file/format.ts';
import { Op } from '../src/event/event.ts';
import { OPS } from '../src/event/operations.ts';
import { ENGINE_APPS } from './oracle/catalog.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter(Boolean);
const text = tracked
  .filter((f) => /\.(ts|js|mjs|svelte|json|md|html|css|sql|txt)$/.test(f) || f === '.ci/run')
  .filter(existsSync);

describe('rooms', () => {
  test('every import is an arrow of the table', () => {
    expect(faultsOf('src', listSources('src'), read)).toEqual([]);
  });

  test('every arrow of the table is an import', () => {
    expect(unusedArrows('src', listSources('src'), read)).toEqual([]);
  });

  test('the check names a planted fault of each sort', () => {
    const files = new Map([
      ['src/trace/a.ts', "import { b } from '../viewer/session/b.ts';"],
      ['src/analysis/core/a.ts', "import type { b } from '../report/b.ts';"],
      ['src/hooks/a.ts', "import x from 'uplot';"],
      ['src/probes/a.ts', "export { y } from 'node:fs';"],
      ['src/utils/a.ts', ''],
      ['src/viewer/ui/a.svelte', "<script>import '../../hooks/hooks.ts';</script>"],
      ['src/viewer/ui/b.ts', "import { type b } from '../session/b.ts';"],
    ]);
    const faults = faultsOf('src', [...files.keys()], (f) => files.get(f)!);
    expect(faults.map((f) => f.slice(0, f.indexOf(' ')).replace(':', ''))).toEqual([
      ...files.keys(),
    ]);
  });

  test('files that import each other in a circle are named together, types included', () => {
    const files = new Map([
      ['src/trace/a.ts', "import { b } from './b.ts';\nimport { d } from './d.ts';"],
      ['src/trace/b.ts', "import type { c } from './file/c.ts';"],
      ['src/trace/file/c.ts', "export { a } from '../a.ts';"],
      ['src/trace/d.ts', "import { e } from './e.ts';"],
      ['src/trace/e.ts', ''],
    ]);
    const faults = faultsOf('src', [...files.keys()], (f) => files.get(f)!);
    expect(faults.map((f) => f.slice(0, f.indexOf(':')))).toEqual([
      'src/trace/a.ts, src/trace/b.ts, src/trace/file/c.ts',
      'src/trace/b.ts and src/trace/file/c.ts',
    ]);
  });

  test('no two folders import each other, not even where one holds the other', () => {
    const files = new Map([
      ['src/analysis/wal/a.ts', "import { b } from '../locks/b.ts';"],
      ['src/analysis/locks/b.ts', "import { g } from '../core/graph.ts';"],
      ['src/analysis/locks/c.ts', "import type { d } from '../wal/d.ts';"],
      ['src/analysis/wal/d.ts', ''],
      ['src/analysis/core/graph.ts', ''],
      ['src/analysis/table.ts', "import { b } from './locks/b.ts';"],
      ['src/analysis/locks/e.ts', "import type { t } from '../table.ts';"],
      ['src/analysis/index.ts', "import './locks/b.ts';"],
    ]);
    const faults = faultsOf('src', [...files.keys()], (f) => files.get(f)!);
    expect(faults.map((f) => f.slice(0, f.indexOf(':')))).toEqual([
      'src/analysis/wal/a.ts and src/analysis/locks/c.ts',
      'src/analysis/table.ts and src/analysis/locks/e.ts',
    ]);
  });

  test('every room of the table that has files is described in ARCHITECTURE.md', () => {
    const architecture = read('ARCHITECTURE.md');
    for (const room of Object.keys(ROOMS)) expect(architecture, room).toContain(`\`${room}\``);
  });
});

describe('documents', () => {
  test('documents and messages name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const file of [...text, ...tracked.filter((f) => f.startsWith('.github/'))].filter(
      existsSync,
    ))
      for (const [line, name] of read(file).matchAll(/npm run (?:--silent )?([a-z][\w:-]*\w)/g))
        expect(Object.keys(scripts), `${file}: ${line}`).toContain(name);
  });

  test('a newcomer has no more than 17 npm scripts to read', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(17);
  });

  test('links between documents lead somewhere', () => {
    for (const file of tracked.filter((f) => f.endsWith('.md')))
      for (const [, target] of read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
        expect(existsSync(join(file, '..', target!)), `${file} -> ${target}`).toBe(true);
  });

  test('every version of the trace format has its heading and a stored sample', () => {
    const format = read('docs/trace-format.md');
    for (let version = 1; version <= FORMAT_VERSION; version++) {
      expect(format).toMatch(new RegExp(`^## Version ${version}\\b`, 'm'));
      expect(
        readdirSync('tests/traces').some(
          (f) => f.startsWith(`v${version}-`) && f.endsWith('.vfst'),
        ),
        `sample of version ${version}`,
      ).toBe(true);
    }
  });

  test('the changelog has a heading for the version in package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('CHANGELOG.md')).toContain(`## ${version}`);
    expect(JSON.parse(read('manifest.json')).version).toBe(version);
  });
});

describe('apps', () => {
  test('every engine app has a page, and a test that names it', () => {
    const tests = tracked
      .filter((f) => /^tests\/(browser|contract|server|oracle)\//.test(f) && !f.endsWith('.json'))
      .map(read)
      .join('\n');
    for (const app of readdirSync('tests/apps', { withFileTypes: true })) {
      if (!app.isDirectory() || app.name === 'common') continue;
      expect(tests, `a test for tests/apps/${app.name}`).toContain(app.name);
    }
  });

  test('docs/support.md has the table of engines', () => {
    expect(storedTable('engines'), 'to fix it: npm run docs').toBe(currentTable());
  });

  test('every row of the grid is in the table of what was recorded', () => {
    const recorded = Object.keys(JSON.parse(read('tests/oracle/recorded.json')) as object);
    expect(recorded).toEqual(ENGINE_APPS.map(({ id }) => id));
  });

  test('apps hold no tracing code, but the one that ships it', () => {
    for (const file of tracked.filter(
      (f) => f.startsWith('tests/apps/') && !/\/(?:hook-cases|field)\//.test(f) && existsSync(f),
    ))
      expect(read(file), file).not.toMatch(/vfscope/i);
  });
});

describe('event model', () => {
  test('operation codes are unique and in their layers', () => {
    const codes = Object.values(Op);
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes)
      if (code !== Op.none && code !== Op.end)
        expect(OPS[code]!.layer).toBe(
          code < 64 ? 'vfs' : code < 128 ? 'web' : code < 160 ? 'sql' : 'host',
        );
  });
});

describe('nothing that does not belong here', () => {
  test('no path outside the repository and no registry host', () => {
    const outside = /(^|[^\w./-])\/(?:tmp|root|work|home)\/[\w.-]/;
    const host = new RegExp(['registry', 'npmjs', 'org'].join('\\.'));
    // one assertion at the end: two for each of 200,000 lines take 15 s
    const found: string[] = [];
    for (const file of text)
      read(file)
        .split('\n')
        .forEach((line, i) => {
          if (outside.test(line) || host.test(line))
            found.push(`${file}:${i + 1}: ${line.slice(0, 120)}`);
        });
    expect(found).toEqual([]);
  });

  test('nothing in src listens but what serves folders, and takes recordings, on this machine', () => {
    const listens = listSources('src').filter((file) =>
      /from 'node:(?:http|http2|https|net|tls|dgram)'|import\('node:(?:http|net)/.test(read(file)),
    );
    // types alone in requests.ts: the server is the caller's
    expect(listens.sort()).toEqual([
      'src/listen/requests.ts',
      'src/listen/server.ts',
      'src/terminal/serve.ts',
    ]);
  });
});
