/**
 * One pass on a device with faults: the workload runs until it ends or SQLite fails, then the device works again, and a new VFS and
 * connection look whether the database is whole. A failure is what was asked for, so it is a result.
 */
import { applyConfig } from './engine/apply-config.ts';
import { integrityOf } from './engine/check-database.ts';
import type { OpenHost } from './engine/open-host.ts';
import type { Ended } from './engine/run-workload.ts';
import type { FaultAnswer, FaultReport } from './model/faults.ts';
import type { Config, Run } from './model/types.ts';
import type { Sample } from './model/result-types.ts';
import { resultName } from '../../sqlite/result-codes.ts';

/** A device with faults, in place. */
export interface FaultyDevice {
  readonly tally: Pick<FaultReport, 'flushes' | 'handles' | 'refused' | 'overQuota'>;
  /** It works again. */
  lift(): void;
  /** What was open is closed as far as it can be: the next one opens what is stored. */
  close(): Promise<void>;
  /** What the VFS says of its last failure; '' where it says nothing. */
  lastError(): string;
}

/**
 * @param open a new VFS and connection on what is stored
 * @param work the workload; it tells `ended` of a failure instead of throwing it, and lifts the faults before it reads back
 */
export async function sampleUnderFaults(
  run: Run,
  device: FaultyDevice,
  open: (run: Run) => Promise<OpenHost>,
  work: (host: OpenHost, ended: Ended) => Promise<Sample>,
): Promise<Sample> {
  let answer: FaultAnswer | null = null;
  const ended: Ended = (step, error) => {
    answer = answerOf(step, error, device.lastError());
    return answer.code ? `SQLite answered ${answer.code}` : answer.message;
  };
  const notes: string[] = [];
  let sample: Sample = { steps: [], digest: '', notes: [], settings: {} };
  let host: OpenHost | null = null;
  try {
    host = await open(run);
  } catch (error) {
    ended('open', error);
  }
  if (host) {
    sample = await work(host, ended);
    await host.close().catch((error: unknown) => {
      // SQLite refuses to close what an exception passed through
      notes.push(`The connection did not close after the fault: ${words(error)}`);
    });
  }
  device.lift();
  await device.close();
  const { database: _, ...stored } = run; // what the run made of it is looked at
  const { whole, damage } = await look(() => open({ ...stored, mode: 'time' }), run.config);
  return {
    ...sample,
    notes: [...sample.notes, ...notes],
    fault: { ...device.tally, answer, whole, damage },
  };
}

async function look(
  open: () => Promise<OpenHost>,
  config: Config,
): Promise<Pick<FaultReport, 'whole' | 'damage'>> {
  let host: OpenHost | null = null;
  try {
    host = await open();
    await applyConfig(host.host, config, true); // a log without shared memory opens with exclusive locking only
    const damage = await integrityOf(host.host.sqlite3, host.host.db);
    return { whole: damage === null, damage: damage ?? '' };
  } catch (error) {
    return { whole: null, damage: words(error) };
  } finally {
    await host?.close();
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function answerOf(step: string, error: unknown, lastError: string): FaultAnswer {
  const cause = causeOf(error);
  const code = (cause as { code?: unknown }).code;
  const said = `${cause instanceof DOMException ? `${cause.name}: ` : ''}${words(cause)}`;
  return {
    step,
    // a DOMException has a code of its own
    code: typeof code === 'number' && !(cause instanceof DOMException) ? resultName(code) : null,
    message:
      lastError && !said.includes(lastError) ? `${said}; the VFS reports ${lastError}` : said,
  };
}
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error;
}
