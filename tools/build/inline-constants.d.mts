import type { Plugin } from 'rollup';

export function tableOf(name: string, source: string): Map<string, number>;
export function inlined(
  code: string,
  tables: ReadonlyMap<string, ReadonlyMap<string, number>>,
): string;
export function inlineConstants(): Plugin;
