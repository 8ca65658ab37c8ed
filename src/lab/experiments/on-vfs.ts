/**
 * An experiment on a list of VFSs. A variant without a VFS runs on each of them, and its
 * expectations are decided on each. In a browser, the default is storage where the experiment is
 * about storage; in Node there is only memory. All titles name their VFS.
 */
import { hasFaults, type FaultSettings } from './model/faults.ts';
import { keepsData, onWords, vfsTitle } from './model/vfs-facts.ts';
import {
  DEFAULT_CONFIG,
  type Assertion,
  type Experiment,
  type Place,
  type Variant,
  type VfsName,
} from './model/types.ts';
import { workloadOf } from './workloads/index.ts';

/** An experiment whose variants all have a VFS. */
export interface PlacedExperiment extends Experiment {
  /** VFSs chosen for variants without one; none: all have one. */
  readonly on: readonly VfsName[];
}

const ownVfs = ({ config, workload }: Variant): VfsName | undefined =>
  config.vfs ?? workloadOf(workload).config.vfs;
const isOpen = (variant: Variant): boolean => ownVfs(variant) === undefined;
/** Whether a VFS can be chosen. */
export const offersVfs = ({ variants }: Experiment): boolean => variants.some(isOpen);

/**
 * Memory has no device that could fail: with a fault profile, an experiment in memory runs here.
 */
const WITH_FAULTS: VfsName = 'AccessHandlePool';

/** The default VFSs; none: each variant has its own VFS. */
export function vfsByDefault(
  experiment: Experiment,
  where: 'browser' | 'node',
  faults: FaultSettings = {},
): readonly VfsName[] {
  const browser = where === 'browser';
  const usual: readonly VfsName[] = offersVfs(experiment)
    ? (browser && experiment.storage) || [DEFAULT_CONFIG.vfs]
    : [];
  const runs = usual.length ? usual : experiment.variants.map((variant) => ownVfs(variant)!);
  const isInMemory = !runs.some(keepsData);
  return browser && hasFaults(faults) && isInMemory ? [WITH_FAULTS] : usual;
}

/**
 * @param asked chosen VFSs; none: the default ones
 * @param faults for all of its runs
 * @throws Error with a message for the user where several are requested and no variant leaves a
 * choice
 */
export function onVfs(
  experiment: Experiment,
  asked: readonly VfsName[],
  where: 'browser' | 'node',
  faults?: FaultSettings,
): PlacedExperiment {
  const open = new Set(experiment.variants.filter(isOpen).map(({ id }) => id));
  const on = asked.length ? asked : vfsByDefault(experiment, where, faults);
  if (open.size === 0) return onOwn(experiment, on);
  const several = on.length > 1;
  const named = (id: string, vfs: VfsName): string =>
    several && open.has(id) ? `${id}@${vfs}` : id;
  const variants = on.flatMap((vfs, i) =>
    experiment.variants.flatMap((variant): Variant[] => {
      // a variant with its own VFS runs once
      if (!open.has(variant.id)) return i === 0 ? [titled(variant)] : [];
      return [
        titled({
          ...variant,
          id: named(variant.id, vfs),
          config: { ...variant.config, vfs },
          // each is compared with the baseline on the same VFS
          ...(several || variant.against !== undefined
            ? { against: named(variant.against ?? experiment.baseline, vfs) }
            : {}),
        }),
      ];
    }),
  );
  const expectations = experiment.expectations.flatMap((one): Assertion[] => {
    const places = [one.left, ...(typeof one.right === 'number' ? [] : [one.right])];
    if (!several || !places.some(({ variant }) => open.has(variant ?? ''))) return [one];
    return on.map((vfs) => {
      const at = (place: Place): Place =>
        place.variant === undefined ? place : { ...place, variant: named(place.variant, vfs) };
      return {
        ...one,
        text: `${one.text} (${vfs})`,
        left: at(one.left),
        right: typeof one.right === 'number' ? one.right : at(one.right),
      };
    });
  });
  const baseline = named(experiment.baseline, on[0]!);
  return withTitle({ ...experiment, variants, expectations, baseline, on });
}

/** All variants have their own VFS: a single requested one replaces it in all. */
function onOwn(experiment: Experiment, asked: readonly VfsName[]): PlacedExperiment {
  if (asked.length > 1)
    throw new Error(
      `Each variant of ${experiment.id} sets its own VFS, so you can choose one VFS at most.`,
    );
  const [vfs] = asked;
  const variants = experiment.variants.map((variant) =>
    titled({ ...variant, config: { ...variant.config, vfs: vfs ?? ownVfs(variant)! } }),
  );
  return withTitle({ ...experiment, variants, on: asked });
}

/** Adds the VFS to a title that doesn't name it. */
function titled(variant: Variant): Variant {
  const vfs = ownVfs(variant)!;
  return variant.title.includes(vfs)
    ? { ...variant, title: variant.title.replace(vfs, vfsTitle(vfs)) }
    : { ...variant, title: `${variant.title}, ${vfsTitle(vfs)}` };
}

const withTitle = (experiment: PlacedExperiment): PlacedExperiment => ({
  ...experiment,
  title: `${experiment.title}, ${onWords(experiment.variants.map((variant) => ownVfs(variant)!))}`,
});
