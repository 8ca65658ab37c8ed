/** A page that runs a workload of the Lab, and its counts. */
import { Op } from '../../src/event/event.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { SCRIPTS } from '../contract/helpers/in-the-lab.ts';

/**
 * What a page evaluates, on any page of the apps' server.
 * @param how the module is loaded (tests/apps/journeyapps-wa-sqlite/lab-workload.js); Emscripten does by default
 * @param integrity of the wasm file, where the page checks it
 */
export const labWorkload = (how?: string, integrity?: string): string =>
  `import('/journeyapps-wa-sqlite/lab-workload.js').then(({ run }) => run(${[SCRIPTS, how, integrity].map((one) => JSON.stringify(one ?? null)).join()}))`;

/** Instructions before each close of a connection. */
export function executedBeforeClose({ events }: ThreadStore): number[] {
  const found: number[] = [];
  for (let row = 0; row < events.count; row++)
    if (
      events.op[row] === Op.sqlInstructions &&
      events.op[events.rowOfSeq(events.aux[row]!)] === Op.sqlClose
    )
      found.push(events.offset[row]!);
  return found;
}
