import { expect, test } from 'vitest';
import { Facts, allFacts, fact, threadFact } from '../../src/analysis/core/graph.ts';
import { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder } from '../traces/builder.ts';

const made: string[] = [];
const one = fact('test one', 'one', {}, () => {
  made.push('one');
  return 1;
});
const two = fact('test two', 'two', { one }, function* (_, known) {
  made.push('two begins');
  yield;
  made.push('two ends');
  return known.one + 1;
});
const three = fact('test three', 'three', { two, one }, (_, known) => {
  made.push('three');
  return known.two + known.one;
});
const perThread = threadFact('test threads', 'threads', { one }, (thread, known) => {
  made.push(`thread ${thread.index}`);
  return thread.index + known.one;
});

const sequence = ['one', 'two begins', 'two ends', 'three'];

const facts = (): Facts => {
  made.length = 0;
  return new Facts(new TraceStore(0));
};

test('a fact is computed once, after the facts that it needs', () => {
  const known = facts();
  expect(known.get(three)).toBe(3);
  expect(known.get(two)).toBe(2);
  expect(made).toEqual(sequence);
});

test('computing reports each missing fact and pauses within it', () => {
  const known = facts();
  const progress = [...known.compute([three])];
  expect(progress).toEqual([
    { label: 'one', done: 0, of: 3 },
    { label: 'two', done: 1, of: 3 },
    { label: 'two', done: 1, of: 3 },
    { label: 'three', done: 2, of: 3 },
  ]);
  expect(made).toEqual(sequence);
  expect([...known.compute([three])]).toEqual([]);
});

test('a canceled computation keeps finished facts, and starts the others again', () => {
  const known = facts();
  const steps = known.compute([three]);
  steps.next(); // one
  steps.next(); // two
  steps.next(); // pause of two
  steps.return();
  expect(made).toEqual(['one', 'two begins']);
  expect(known.get(three)).toBe(3);
  expect(made).toEqual(['one', 'two begins', 'two begins', 'two ends', 'three']);
});

test("a value computed during a pause isn't computed again", () => {
  const list = fact('test list', 'list', {}, function* () {
    yield;
    return [];
  });
  const known = facts();
  const steps = known.compute([list]);
  steps.next();
  steps.next(); // the pause
  const early = known.get(list);
  for (const _ of steps);
  expect(known.get(list)).toBe(early);
});

test('a fact of a thread is computed for the requested thread', () => {
  const known = facts();
  const { store } = known;
  new ThreadBuilder(store);
  new ThreadBuilder(store);
  expect(known.get(perThread).of(store.threads[1]!)).toBe(2);
  expect(made.filter((name) => name.startsWith('thread'))).toEqual(['thread 1']);
  expect([...known.compute([perThread])].map(({ label }) => label)).toEqual([
    'one',
    'threads',
    'threads',
    'threads',
  ]);
  expect(made.filter((name) => name.startsWith('thread'))).toEqual(['thread 1', 'thread 0']);
});

test('facts are listed after those they need, and no name is declared twice', () => {
  const names = allFacts().map(({ name }) => name);
  expect(names.indexOf('test one')).toBeLessThan(names.indexOf('test two'));
  expect(() => fact('test one', '', {}, () => 0)).toThrow('declared twice');
});
