/** Folders served to a browser on this machine: only their files. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFolders, type Served } from '../../src/terminal/serve.ts';

let folder: string;
let served: Served;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vfscope-served-'));
  await mkdir(join(folder, 'app'));
  await mkdir(join(folder, 'app-secret'));
  await writeFile(join(folder, 'app/index.html'), '<p>the app');
  await writeFile(join(folder, 'app/a b.wasm'), new Uint8Array(3));
  await writeFile(join(folder, 'app-secret/key'), 'secret');
  await writeFile(join(folder, 'key'), 'secret');
  served = await serveFolders({
    '/trace/a key': join(folder, 'key'),
    '/demo/': join(folder, 'app'),
  });
});
afterAll(async () => {
  await served.close();
  await rm(folder, { recursive: true });
});

/** Sends the path unchanged. fetch would normalize it. */
const ask = (
  path: string,
  method = 'GET',
  headers = {},
): Promise<[status: number, type: string, text: string]> =>
  new Promise((done, failed) => {
    const asked = request(served.url, { path, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (piece) => (text += String(piece)));
      answer.on('end', () =>
        done([answer.statusCode!, answer.headers['content-type'] ?? '', text]),
      );
    });
    asked.on('error', failed);
    asked.end();
  });

test('serves files by type, and the index of a folder', async () => {
  expect(await ask('/demo/?vfs=x')).toEqual([200, 'text/html; charset=utf-8', '<p>the app']);
  expect(await ask('/demo/a%20b.wasm')).toEqual([200, 'application/wasm', '\0\0\0']);
  expect(await ask('/demo/', 'HEAD')).toEqual([200, 'text/html; charset=utf-8', '']);
});

test.each([
  '/',
  '/demo',
  '/demo/none',
  '/demo/../key',
  '/demo/%2e%2e/key',
  '/demo/..%2fkey',
  '/demo/%2e%2e%2fapp-secret/key',
  '/demo/%',
  '/demo/%00',
])('%s is not served', async (path) => {
  expect((await ask(path))[0]).toBe(404);
});

test('serves a file under its own path, and to a browser on this machine', async () => {
  expect((await ask('/trace/a%20key'))[2]).toBe('secret');
  expect((await ask('/trace/a%20key/'))[0]).toBe(404);
  expect((await ask('/trace/a%20key', 'GET', { host: 'evil.example' }))[0]).toBe(403);
});

test('accepts no data', async () => {
  expect((await ask('/demo/', 'POST'))[0]).toBe(405);
});
