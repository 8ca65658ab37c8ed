/**
 * The VFSs for *Try it*, the recorded settings that an experiment can use, and the explanation of
 * both.
 */
import type { RecordedVfs } from './replay/recorded-vfs.ts';
import { ownEngineOf, vfsTitle } from './model/vfs-facts.ts';
import type { Config, Experiment, VfsName } from './model/types.ts';
import { offersVfs } from './on-vfs.ts';
import { workloadOf } from './workloads/index.ts';

export interface TriedOn {
  /** null: not known, or each variant has its own. */
  readonly vfs: VfsName | null;
  /** Sentences. */
  readonly says: readonly string[];
}

/** These engines have no backup API, which copies a database onto a VFS. */
const TAKES_COPIES: Partial<Record<VfsName, VfsName>> = {
  'opfs-sahpool': 'AccessHandlePool',
  opfs: 'OPFSAdaptive',
  'opfs-wl': 'OPFSAdaptive',
  'absurd-sql': 'BlockIDB',
};

/** For the app's own statements. @param copied they run on a copy of its database */
export function ownOn({ vfs, nearest, certain, why }: RecordedVfs, copied: boolean): TriedOn {
  if (vfs === null)
    return {
      vfs: nearest ?? null,
      says: [
        `The Lab doesn't have your app's VFS: ${why}.`,
        nearest
          ? `This runs on ${vfsTitle(nearest)}, the nearest that it has.`
          : 'This runs in memory.',
      ],
    };
  const other = copied && ownEngineOf(vfs) ? TAKES_COPIES[vfs] : undefined;
  if (other)
    return {
      vfs: other,
      says: [
        `The Lab can't copy a database onto ${vfsTitle(vfs)}, your app's VFS.`,
        `This runs on ${vfsTitle(other)}, the nearest that it can.`,
      ],
    };
  const same = certain ? 'as your app does' : `your app's VFS by a guess: ${why}`;
  return { vfs, says: [`This runs on ${vfsTitle(vfs)}, ${same}.`] };
}

/** For the experiment's statements. @param recorded null: no recording */
export function experimentOn(experiment: Experiment, recorded: RecordedVfs | null): TriedOn {
  if (!recorded)
    return {
      vfs: null,
      says: ["Your recording isn't here, so this runs on the experiment's own VFS."],
    };
  if (!offersVfs(experiment)) {
    const { vfs } = recorded;
    return {
      vfs: null,
      says: [
        vfs
          ? `Your app uses ${vfsTitle(vfs)}.`
          : `The Lab doesn't have your app's VFS: ${recorded.why}.`,
        'Each variant of this experiment has its own VFS.',
      ],
    };
  }
  const { vfs, says } = ownOn(recorded, false);
  return {
    vfs,
    says: vfs ? says : [says[0]!, "This runs on the experiment's own VFS."],
  };
}

/** The recorded settings that neither a variant nor a workload of the experiment sets. */
export function settingsFor({ variants }: Experiment, recorded: Partial<Config>): Partial<Config> {
  const taken = new Set(
    variants.flatMap(({ config, workload }) =>
      Object.keys({ ...workloadOf(workload).config, ...config }),
    ),
  );
  return Object.fromEntries(Object.entries(recorded).filter(([key]) => !taken.has(key)));
}
