// The result of `npm pack`, installed elsewhere: the command's imports are installed with it, every
// reachable file is included, types resolve.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, describe, expect, test } from 'vitest';
import { emitTypes } from '../../tools/build/lib-types.mjs';

const pkg = JSON.parse(readFileSync('package.json', 'utf8')) as {
  files: string[];
  bin: Record<string, string>;
  exports: Record<string, Record<string, string>>;
  dependencies: Record<string, string>;
};

test("the command's runtime imports are dependencies, and nothing else is", async () => {
  const { metafile } = await build({
    ...{
      entryPoints: ['src/cli/vfscope.ts'],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
    },
    ...{ packages: 'external', metafile: true, logLevel: 'error' },
  });
  const named = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter((i) => i.external).map((i) => i.path),
  );
  const packages = named.filter(
    (path) => !path.startsWith('node:') && !builtinModules.includes(path),
  );
  const names = packages.map((path) =>
    path
      .split('/')
      .slice(0, path.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  expect([...new Set(names)].sort()).toEqual(Object.keys(pkg.dependencies).sort());
});

test('the tarball has every reachable file: command, library, both extensions, documents, but no sources', () => {
  const holds = (path: string): boolean =>
    pkg.files.some((entry) =>
      new RegExp(`^${entry.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`).test(path),
    );
  for (const path of [...Object.values(pkg.bin), ...Object.values(pkg.exports['./vfs']!)])
    expect(holds(path.replace(/^\.\//, '')), path).toBe(true);
  const drives = readFileSync('src/drive/extension-folders.ts', 'utf8').matchAll(
    /new URL\('\.\.\/(\w+)\/'/g,
  );
  expect([...drives].map((m) => holds(`dist/${m[1]}/manifest.json`))).toEqual([true, true]);
  expect(pkg.files.filter((entry) => /^(src|tests|tools|dist\/?$)/.test(entry))).toEqual([]);
  expect(pkg.files.filter((entry) => entry.includes('images'))).toEqual([
    'docs/images/answer-actual.png',
  ]);
});

describe('types of vfscope/vfs resolve in a project that has it installed', () => {
  const project = resolve('node_modules/.cache/vfscope-npm-test');
  const installed = join(project, 'node_modules/vfscope');
  afterAll(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(installed, { recursive: true });
  emitTypes('src/vfs-instrumented/library/index.ts', join(installed, 'dist/lib/types'), 'vfs');
  writeFileSync(
    join(installed, 'package.json'),
    JSON.stringify({ name: 'vfscope', type: 'module', exports: pkg.exports }),
  );
  const use = join(project, 'use.mts');
  writeFileSync(
    use,
    `import { BlockIdbVfs, instrument, startRecording, summaryOf } from 'vfscope/vfs';
    const recording = startRecording();
    export const commits: number | null = summaryOf(recording.store()).commits;
    export const file: Promise<Blob> = recording.save();
    export const wrong: string = recording.save();
    export { BlockIdbVfs, instrument };`,
  );

  test.each([
    ['node16', ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
    ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ])('moduleResolution %s', (_, module, moduleResolution) => {
    const program = ts.createProgram([use], {
      ...{
        module,
        moduleResolution,
        strict: true,
        noEmit: true,
        types: [],
        target: ts.ScriptTarget.ES2022,
      },
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    });
    const said = ts
      .getPreEmitDiagnostics(program)
      .map((d) => ts.flattenDiagnosticMessageText(d.messageText, '\n'));
    // the planted one
    expect(said).toEqual(["Type 'Promise<Blob>' is not assignable to type 'string'."]);
    expect(readdirSync(join(installed, 'dist/lib'))).toContain('vfs.d.ts');
  });
});
