/** A common way to define workloads, so that each file only has its own parts. */
import type { HostStep, Parameter, Parameters, SqlStep, Step, Workload } from '../model/types.ts';

type Given = Pick<Workload, 'id' | 'title' | 'question' | 'steps'> & Partial<Workload>;

/**
 * A workload with defaults (no setup, parameters, claims, or settings), overridden by the given
 * fields.
 */
export const workload = (w: Given): Workload => ({
  version: 1,
  parameters: {},
  config: {},
  setup: () => [],
  watch: ['instructions', 'ms', 'vfs.xRead', 'vfs.xWrite', 'vfs.xSync'],
  claims: [],
  assertions: [],
  ...w,
});

export const sql = (id: string, title: string, text: string): SqlStep => ({
  kind: 'sql',
  id,
  title,
  sql: text,
});
export const host = (action: HostStep['action']): HostStep => ({
  kind: 'host',
  id: action,
  title: action === 'reopen' ? 'close and open again' : "empty the VFS's block cache",
  action,
});

/** A parameter: its default, its minimum and maximum, and its unit. */
export const defaultsTo = (
  value: number,
  [least, most]: readonly [least: number, most: number],
  what: string,
): Parameter => ({ default: value, least, most, what });

/** One line per value of 0..n-1. */
export const lines = (n: number, line: (i: number) => string): string => {
  const out: string[] = [];
  for (let i = 0; i < n; i++) out.push(line(i), '\n');
  return out.join('');
};
/** Values 0..n-1, made when asked for. */
export function* times<T>(n: number, make: (i: number) => T): Generator<T> {
  for (let i = 0; i < n; i++) yield make(i);
}

/** Several steps run as one text, for counts of the whole. */
export const textOf = (steps: Iterable<Step>): string =>
  [...steps].map((s) => ('sql' in s ? s.sql : '')).join('');

/** @throws when a parameter is missing: a bug in the workload, not an input error */
export function parameter(p: Parameters, name: string): number {
  const value = p[name];
  if (value === undefined)
    throw new Error(`the workload reads parameter "${name}", which it does not declare`);
  return value;
}
