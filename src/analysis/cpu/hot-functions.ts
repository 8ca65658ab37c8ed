/** CPU samples by statement: in how many the thread computed, and in which functions. */
import { scriptName } from '../../text/clean.ts';
import { isOnCpu, type CodeKind, type CpuFunction } from '../../trace/cpu-samples.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { fact } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { recordedTexts } from '../core/recorded-texts.ts';
import { sampleStatements } from './sample-statements.ts';

export interface HotFunction {
  /** From `functionTitles`. */
  name: string;
  url: string;
  kind: CodeKind;
  /** Samples in the function itself. */
  self: number;
}
export interface StatementSamples {
  /** Fingerprint; null = not known. */
  text: string | null;
  sql: string | null;
  /** Taken while the statement ran. */
  samples: number;
  /** Those in which the thread computed. */
  onCpu: number;
  /** Functions of those, the most samples first. */
  functions: HotFunction[];
}
export interface SampleSums {
  /** The most samples first. */
  statements: StatementSamples[];
  /** Samples in which the thread computed while no SQL ran. */
  outside: number;
  intervalUs: number;
  clockErrorUs: number;
}

const OF_KIND: Partial<Record<CodeKind, string>> = {
  gc: '(garbage collection)',
  program: '(native code)',
  idle: '(idle)',
  vfscope: '(storage call, or vfscope)',
};
/** `app.js:12:3` */
const placeOf = ({ url, line, column }: CpuFunction): string =>
  url ? [scriptName(url), ...(line ? [line, ...(column ? [column] : [])] : [])].join(':') : '';

/**
 * The title of each function: `patternCompare`, `(anonymous) app.js:12:3`; if several functions
 * have one name, with the position, too.
 */
export const functionTitles = fact(
  'functionTitles',
  'names of functions',
  {},
  ({ threads }): ((one: CpuFunction) => string) => {
    const places = new Map<string, Set<string>>();
    for (const { cpu } of threads)
      for (const one of cpu?.functions ?? [])
        getOrMake(places, one.name, () => new Set<string>()).add(`${one.url} ${placeOf(one)}`);
    return (one) => {
      const ofKind = OF_KIND[one.kind];
      if (ofKind !== undefined) return ofKind;
      const isAlone = one.name !== '' && (places.get(one.name)?.size ?? 0) < 2;
      return [one.name || '(anonymous)', ...(isAlone ? [] : [placeOf(one)])].join(' ').trim();
    };
  },
);

/** null if no thread was sampled. */
export const sampleSums = fact(
  'sampleSums',
  'functions of each statement',
  { sampleStatements, recordedTexts, functionTitles },
  ({ threads }, known): SampleSums | null => {
    const sampled = threads.filter(({ cpu }) => cpu !== null);
    if (sampled.length === 0) return null;
    const found = new Map<string | null, StatementSamples & { at: Map<string, HotFunction> }>();
    let outside = 0;
    for (const thread of sampled) {
      const { samples, texts } = known.sampleStatements.of(thread)!;
      const textOf = fingerprintsOf(thread);
      texts.forEach((id, i) => {
        const leaf = samples.functions[samples.called[samples.frames[i]!]!]!;
        const computes = isOnCpu(leaf);
        if (id < 0) {
          if (computes) outside++;
          return;
        }
        const text = textOf(id);
        const entry = getOrMake(found, text, () => ({
          text,
          sql: text === null ? null : known.recordedTexts.get(text)!,
          samples: 0,
          onCpu: 0,
          functions: [],
          at: new Map<string, HotFunction>(),
        }));
        entry.samples++;
        if (!computes) return;
        entry.onCpu++;
        const { url, kind } = leaf;
        const name = known.functionTitles(leaf);
        getOrMake(entry.at, name, () => ({ name, url, kind, self: 0 })).self++;
      });
    }
    const statements = [...found.values()].map(({ at, ...entry }) => ({
      ...entry,
      functions: [...at.values()].sort((a, b) => b.self - a.self),
    }));
    statements.sort((a, b) => b.samples - a.samples);
    return {
      statements,
      outside,
      intervalUs: Math.max(...sampled.map(({ cpu }) => cpu!.intervalUs)),
      clockErrorUs: Math.max(...sampled.map(({ cpu }) => cpu!.clockErrorUs)),
    };
  },
);
