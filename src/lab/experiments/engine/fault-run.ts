/**
 * One pass on a device with faults: the workload runs until it ends or SQLite fails, then the device works again, and a new VFS and
 * connection look whether the database is whole. A failure is what was asked for, so it is a result.
 */
import { applyConfig } from './apply-config.ts';
import { integrityOf } from './check-database.ts';
import type { OpenHost } from './open-host.ts';
import type { Ended } from './run-workload.ts';
import { FaultFailure, type FaultAnswer, type FaultReport } from '../model/faults.ts';
import type { Run } from '../model/types.ts';
import type { Sample } from '../model/result-types.ts';
import { Rc } from '../../../sqlite/constants.ts';
import { resultName } from '../../../sqlite/result-codes.ts';

/** Longest time for what comes after the run, ms. */
const CLOSE_MS = 5_000;
const CHECK_MS = 5_000;
/** In a worker of its own. */
const LONG_CHECK_MS = 120_000;

/** A device with faults, in place. */
export interface FaultyDevice {
  /** So far. */
  tally(): Pick<FaultReport, 'flushes' | 'handles' | 'refused' | 'overQuota'>;
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
    // SQLite refuses to close what an exception passed through, and a VFS may wait for ever
    await within(CLOSE_MS, host.close()).catch((error: unknown) => {
      notes.push(`The connection did not close after the fault: ${words(error)}.`);
    });
  }
  device.lift();
  await within(CLOSE_MS, device.close()).catch((error: unknown) => {
    notes.push(`The VFS did not close after the fault: ${words(error)}.`);
  });
  const { whole, damage } = await look(run, open, CHECK_MS);
  return {
    ...sample,
    notes: [...sample.notes, ...notes],
    fault: { ...device.tally(), answer, whole, damage },
  };
}

/** Whether what a run stored is whole. */
export type Found = Pick<FaultReport, 'whole' | 'damage'>;

/** Whether what is stored is whole, in another worker than the run's: a VFS that failed may hold locks as long as its worker lives. @param open a new VFS and connection on it */
export const checkStored = (run: Run, open: (run: Run) => Promise<OpenHost>): Promise<Found> =>
  look(run, open, LONG_CHECK_MS);

async function look(
  { database: _, ...run }: Run, // what the run made of it is looked at
  open: (run: Run) => Promise<OpenHost>,
  ms: number,
): Promise<Found> {
  let host: OpenHost | undefined;
  try {
    const damage = await within(
      ms,
      open({ ...run, mode: 'time' }).then(async (opened) => {
        host = opened;
        await applyConfig(opened.host, run.config, true); // a log without shared memory opens with exclusive locking only
        return integrityOf(opened.host.sqlite3, opened.host.db);
      }),
    );
    await within(CLOSE_MS, host!.close());
    return { whole: damage === null, damage: damage ?? '' };
  } catch (error) {
    return { whole: isDamage(error) ? false : null, damage: words(error) };
  }
}

/** SQLite itself says so, and can't even read what is there. */
function isDamage(error: unknown): boolean {
  const code = Number((error as { code?: unknown }).code) & 255;
  return code === Rc.corrupt || code === Rc.notADb;
}

/** @throws where it takes longer */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @param step during which it came @param lastError what the VFS says of it, '' where it says nothing */
export function answerOf(step: string, error: unknown, lastError: string): FaultAnswer {
  if (error instanceof FaultFailure) return error.answer;
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
