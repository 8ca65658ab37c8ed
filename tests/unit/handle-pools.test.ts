// Detects which access handles are a VFS's own pool: files of one folder that no VFS call names.
import { expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { handlePools } from '../../src/analysis/locks/handle-pools.ts';
import { locks } from '../../src/analysis/locks/locks.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

function poolsOf(paths: readonly string[], sqlite: readonly string[]): Record<string, string> {
  const store = newStore();
  const t = new ThreadBuilder(store);
  for (const path of sqlite) t.call('xOpen', { object: t.file(path) });
  for (const path of paths)
    t.call('opfsOpenSyncAccessHandle', { object: t.define({ kind: 'opfs-file', path }), dur: 5 });
  t.send();
  const facts = new Facts(store);
  const pools = facts.get(handlePools);
  return Object.fromEntries(facts.get(locks).resources.map(({ name }, i) => [name, pools[i]!]));
}
const POOL = [0, 1, 2, 3].map((n) => `/.ahp-1/${n}.tmp`);

it('is four or more files of a folder that SQLite never opened', () => {
  expect(poolsOf([...POOL, '/app.db'], ['app.db'])).toEqual({
    ...Object.fromEntries(POOL.map((path) => [path, '/.ahp-1'])),
    '/app.db': '',
  });
});

it("isn't a folder of databases or a few files, and is nothing if no VFS call is recorded", () => {
  const none = (paths: readonly string[], sqlite: readonly string[]): void =>
    expect(Object.values(poolsOf(paths, sqlite))).toEqual(paths.map(() => ''));
  none(
    ['/data/a.db', '/data/a.db-journal', '/data/a.db-wal', '/data/b.db'],
    ['/data/a.db', '/data/b.db'],
  );
  none(POOL.slice(1), ['app.db']);
  none(POOL, []);
  none(['/0.tmp', '/1.tmp', '/2.tmp', '/3.tmp'], ['app.db']);
});
