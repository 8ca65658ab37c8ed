/**
 * The options of a replay: one value for each setting. BlockIDB's settings only appear when it is
 * chosen.
 */
import { DEFAULT_CONFIG, type Config } from '../experiments/model/types.ts';
import { KNOBS, labelOf, type Knob } from '../experiments/model/knobs.ts';
import { completeConfig } from './grid.ts';

export type ReplaySetting =
  'vfs' | 'blockSize' | 'writePolicy' | 'durability' | 'cacheBlocks' | 'cacheSize';
/** null: the VFS's default; for the page cache: not requested. */
export type ReplayChoice = Pick<Config, ReplaySetting>;
interface ReplayKnob {
  readonly key: ReplaySetting;
  readonly title: string;
  readonly help: string;
  readonly values: readonly (string | number | null)[];
  /** Only a block VFS has it. */
  readonly ofBlocks: boolean;
}

const valuesOf = (key: Knob['key']): Knob['values'] =>
  KNOBS.find((knob) => knob.key === key)?.values ?? [];
const block = (
  key: ReplaySetting,
  title: string,
  help: string,
  values: Knob['values'],
): ReplayKnob => ({
  key,
  title,
  help,
  values,
  ofBlocks: true,
});
const REPLAY_KNOBS: readonly ReplayKnob[] = [
  {
    key: 'vfs',
    title: 'VFS',
    help: 'Where the recorded calls are repeated',
    ofBlocks: false,
    values: valuesOf('vfs').filter((vfs) => vfs !== 'memory'), // it makes no VFS calls
  },
  block('blockSize', 'Block size', 'Bytes of a record in IndexedDB', valuesOf('blockSize')),
  block(
    'writePolicy',
    'Writes',
    'When a block is stored: at each write, at each write but not waited for, at xSync',
    valuesOf('writePolicy'),
  ),
  block('durability', 'Durability', 'Of an IndexedDB transaction: strict waits for the disk', [
    null,
    'relaxed',
    'strict',
  ]),
  block('cacheBlocks', 'Block cache', 'Blocks that stay in memory', valuesOf('cacheBlocks')),
  {
    key: 'cacheSize',
    title: 'Page cache',
    ofBlocks: false,
    values: [null, 20, 100, 500, 2000],
    help: "Pages of SQLite's own cache: adds what it would have read at most, by the recording's miss-ratio curve",
  },
];
export const FIRST_CHOICE: ReplayChoice = {
  vfs: 'BlockIDB',
  blockSize: 8192,
  writePolicy: 'through',
  durability: null,
  cacheBlocks: null,
  cacheSize: null,
};

/** The settings of the chosen VFS. */
export const knobsFor = ({ vfs }: ReplayChoice): readonly ReplayKnob[] =>
  REPLAY_KNOBS.filter((k) => !k.ofBlocks || vfs === 'BlockIDB');

/** The configuration of a choice. Settings that the VFS doesn't have are null. */
export const configFor = (choice: ReplayChoice): Config =>
  completeConfig({ ...DEFAULT_CONFIG, ...choice });

/** As a column's heading: `BlockIDB, 8 KiB blocks, lazy`. */
export function headingOf(config: Config): string {
  return REPLAY_KNOBS.flatMap(({ key }) => {
    const value = config[key];
    if (value === null) return [];
    return [key === 'durability' ? `${value} durability` : labelOf(key, value)];
  }).join(', ');
}
