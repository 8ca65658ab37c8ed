/** The choices on the page as words of the command. */
import { FAULT_KEYS, type FaultSettings } from '../experiments/model/faults.ts';
import { KNOBS } from '../experiments/model/knobs.ts';
import type { EngineBuild, Mode, VfsName } from '../experiments/model/types.ts';
import type { Offer } from './catalog.ts';
import type { Choices, ParameterChoices } from './grid.ts';

/** What a user's workload needs in addition to its settings. */
const FILES: Readonly<Record<string, string>> = {
  'own-sql': ' --sql FILE',
  'own-database': ' --file DATABASE --sql FILE',
};

/**
 * The same runs with `vfscope lab run`. An experiment has its own mode and variants, and may leave
 * the VFS to choose.
 */
export function commandOf(
  offer: Offer,
  mode: Mode,
  choices: Choices,
  parameters: ParameterChoices,
  experimentVfs: readonly VfsName[] = [],
  memory = false,
  experimentEngine: EngineBuild | null = null,
  faults: FaultSettings = {},
): string {
  const command = `npx vfscope lab run ${offer.id}${memory ? ' --memory' : ''}`;
  if (offer.kind === 'experiment') {
    const chosen = [
      ...(experimentVfs.length ? [`vfs=${experimentVfs.join(',')}`] : []),
      ...(experimentEngine === null ? [] : [`engine=${experimentEngine}`]),
      ...FAULT_KEYS.flatMap((key) => (faults[key] ? [`${key}=${faults[key]}`] : [])),
    ];
    return chosen.length ? `${command} --config ${chosen.join(' ')}` : command;
  }
  const words = [
    ...KNOBS.map(({ key }) => [key, choices[key] ?? []] as const),
    ...Object.entries(parameters),
  ].flatMap(([name, values]) =>
    values.length ? [`${name}=${values.map((value) => value ?? 'default').join(',')}`] : [],
  );
  return `${command}${FILES[offer.id] ?? ''}${mode === 'count' ? ' --count' : ''}${words.length ? ` --config ${words.join(' ')}` : ''}`;
}
