/**
 * Each build folder and each package lists its third-party packages: compared with another
 * bundler's findings.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { filesOf } from '../../tools/build/package.mjs';
import { FILE, packageFolder } from '../../tools/build/third-party.mjs';
import { EXTENSION } from './extension-harness.ts';

const POLYFILL = 'node_modules/webextension-polyfill';

test.each(['chrome', 'firefox', 'safari'])('%s', async (browser) => {
  const files = new Map(filesOf(path.join(EXTENSION, '..', browser)));
  const text = files.get(FILE)!.toString();
  const [polyfill] = filesOf(`${POLYFILL}/dist`).filter(([file]) => file.endsWith('.min.js'));
  expect(files.get(polyfill![0])).toEqual(polyfill![1]);
  const { metafile } = await build({
    entryPoints: [
      'src/viewer/session/store-worker.ts',
      'src/lab/page/lab-worker.ts',
      'src/hooks/hooks.ts',
      'src/viewer/ui/views/sql/editor.ts',
    ],
    ...{
      bundle: true,
      write: false,
      outdir: 'out',
      format: 'esm',
      metafile: true,
      logLevel: 'error',
      external: ['node:*', 'module', 'fs', 'path', 'crypto'],
    },
    loader: { '.wasm': 'empty' },
  });
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const found = bundled.flatMap(([id, { bytesInOutput }]) =>
    bytesInOutput > 0 ? (packageFolder(id) ?? []) : [],
  );
  const folders = [...new Set([...found, 'node_modules/svelte', POLYFILL])];
  expect(folders.length).toBeGreaterThan(15);
  for (const folder of folders) {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as {
      name: string;
      version: string;
    };
    expect(text).toContain(`\n${name} ${version}\n`);
  }
  expect(text.match(/Permission is hereby granted, free of charge/g)!.length).toBeGreaterThan(15);
});
