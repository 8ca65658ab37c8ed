/**
 * How files of earlier versions become today's: one step a version, each taking a section of its version to the next. A change of
 * the format = FORMAT_VERSION + 1, a step here, a heading in docs/trace-format.md, and a stored sample in tests/traces.
 */
import { FORMAT_VERSION } from './format.ts';

export interface RawSection {
  tag: string;
  payload: Uint8Array;
}
/** A section of version n as version n + 1 writes it; null drops it. */
export type UpgradeStep = (section: RawSection) => RawSection | null;

/** Step by the version that it starts from. Version 1 is the first: there are none. */
export const UPGRADES: ReadonlyMap<number, UpgradeStep> = new Map();

/** @throws Error when a step is missing, which the tests would have found */
export function upgradeSection(
  section: RawSection,
  version: number,
  steps = UPGRADES,
  target = FORMAT_VERSION,
): RawSection | null {
  let current: RawSection | null = section;
  for (let v = version; v < target && current; v++) {
    const step = steps.get(v);
    if (!step) throw new Error(`no upgrade step from trace format ${v}`);
    current = step(current);
  }
  return current;
}
