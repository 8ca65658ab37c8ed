/**
 * Key-value rows through SQLite and in plain IndexedDB: the effect of batching, page cache, and
 * page size on reads and writes.
 */
import { expectAll } from '../model/assertions.ts';
import type { RawStep, Step, Value, Workload } from '../model/types.ts';
import { defaultsTo, host, parameter, sql, times, workload } from './define.ts';
import { seeded } from './random.ts';

const key = (i: number): string => `large-uuid-string-${String(i).padStart(8, '0')}`;
/**
 * Halves: every second one is a real of 8 bytes, and SQLite stores the others as integers. The sum
 * is exact in any order.
 */
const value = (i: number): number => ((i * 7919) % 20_000) / 2;
const raw = (id: string, title: string, action: RawStep['action'], count: number): RawStep => ({
  kind: 'raw-idb',
  id,
  title,
  action,
  count,
  row: (i) => ({ key: key(i), value: value(i) }),
});

function* steps(items: number): Generator<Step> {
  const draw = seeded(14);
  yield {
    kind: 'bound',
    id: 'insert',
    title: `insert ${items} rows in one transaction`,
    sql: 'INSERT INTO kv VALUES(?,?)',
    rows: times(items, (i): readonly Value[] => [key(i), value(i)]),
    oneTransaction: true,
  };
  yield host('drop-block-cache');
  yield host('reopen');
  yield sql('first', 'the first row after opening', 'SELECT 1 FROM kv LIMIT 1;');
  yield sql('sum-1', 'first sum over all', 'SELECT sum(value) FROM kv;');
  yield sql('sum-2', 'second sum over all', 'SELECT sum(value) FROM kv;');
  yield {
    kind: 'bound',
    id: 'random',
    title: '20 reads at a random offset',
    sql: 'SELECT key FROM kv LIMIT 10 OFFSET ?',
    rows: times(20, () => [draw(items)]),
    oneTransaction: false,
  };
  yield raw('raw-put', `the same ${items} rows put into IndexedDB`, 'put-rows', items);
  yield raw('raw-cursor', 'sum by a cursor', 'cursor-sum', items);
  yield raw('raw-get-all', 'sum of getAll', 'get-all-sum', items);
}

export const KV_SWEEP: Workload = workload({
  id: 'kv-sweep',
  title: 'Key-value rows: SQL over storage against storage itself',
  question:
    'What do the page cache and the page size save, and does SQL over IndexedDB beat IndexedDB?',
  parameters: { items: defaultsTo(20_000, [100, 1_000_000], 'rows') },
  config: { journalMode: 'memory', synchronous: 'normal' },
  setup: () => [sql('create', 'create the table', 'CREATE TABLE kv(key TEXT, value REAL);')],
  steps: (p) => steps(parameter(p, 'items')),
  twins: [
    { step: 'insert', twin: 'raw-put' },
    { step: 'sum-1', twin: 'raw-cursor' },
    { step: 'sum-1', twin: 'raw-get-all' },
    { step: 'sum-2', twin: 'raw-get-all' },
  ],
  watch: [
    'ms',
    'instructions',
    'cache.hit',
    'cache.miss',
    'vfs.xRead',
    'vfs.xReadBytes',
    'vfs.xWrite',
    'block.get',
    'block.put',
    'block.getBytes',
    'block.putBytes',
    'idb.get',
    'idb.put',
  ],
  claims: ['S3.3', 'S3.4', 'S3.5', 'S3.6', 'S3.10', 'S3.11', 'S3.12', 'S3.14'],
  assertions: expectAll({
    'A second sum misses the page cache no more often than the first':
      'sum-2 cache.miss <= sum-1 cache.miss * 1.02',
    'Reading by SQL takes less time than by a cursor of IndexedDB': 'sum-1 ms < raw-cursor ms',
  }),
});
