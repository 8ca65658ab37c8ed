/** What *Try it* runs of a recording's own surroundings, and what it says about the rest: the experiment's statements stay its own. */
import type { RecordedVfs } from './replay/recorded-vfs.ts';
import { vfsTitle } from './model/vfs-facts.ts';
import type { Experiment, VfsName } from './model/types.ts';
import { offersVfs } from './on-vfs.ts';

export interface TriedOn {
  /** VFSs to choose; none: the experiment's own. */
  readonly vfs: readonly VfsName[];
  /** Sentences. */
  readonly says: readonly string[];
}

const OWN_SQL = "Statements and pragmas are the experiment's, not your app's.";

/** @param recorded null: there is no recording */
export function triedOn(experiment: Experiment, recorded: RecordedVfs | null): TriedOn {
  if (!recorded)
    return {
      vfs: [],
      says: ["Your recording isn't here, so this runs on the experiment's own VFS.", OWN_SQL],
    };
  const { vfs, certain, why } = recorded;
  if (vfs === null)
    return {
      vfs: [],
      says: [
        `The Lab doesn't have your app's VFS: ${why}.`,
        "This runs on the experiment's own VFS.",
        OWN_SQL,
      ],
    };
  if (!offersVfs(experiment))
    return {
      vfs: [],
      says: [
        `Your app uses ${vfsTitle(vfs)}.`,
        'Each variant of this experiment has its own VFS.',
        OWN_SQL,
      ],
    };
  const same = certain ? 'as your app does' : `your app's VFS by a guess: ${why}`;
  return { vfs: [vfs], says: [`This runs on ${vfsTitle(vfs)}, ${same}.`, OWN_SQL] };
}
