/** Records a pair alternately, fault and twin, and reports the outcome. */
import path from 'node:path';
import { EXTENSION } from '../browser/extension-harness.ts';
import type { AppServer } from '../server/server.mjs';
import { outcomeOf, type Outcome } from './measure.ts';
import type { Pair } from './pairs.ts';
import { recordTwin, type Recorded } from './record.ts';

/**
 * @param most pairs of recordings; one is enough if the rule claims no saving
 * @param folder for the traces
 */
export async function runPair(
  pair: Pair,
  most: number,
  { server, folder }: { server: AppServer; folder: string },
): Promise<Outcome> {
  const rounds: { wrong: Recorded; right: Recorded }[] = [];
  const made = async (which: 'wrong' | 'right'): Promise<Recorded> =>
    recordTwin(pair[which], {
      server,
      extension: EXTENSION,
      label: `${pair.rule}-${which}-${rounds.length}`.toLowerCase(),
      file: path.join(folder, `${pair.rule}-${which}.vfst`),
    });
  do rounds.push({ wrong: await made('wrong'), right: await made('right') });
  while (rounds.length < most && outcomeOf(pair, rounds).predictedMs !== null);
  return outcomeOf(pair, rounds);
}
