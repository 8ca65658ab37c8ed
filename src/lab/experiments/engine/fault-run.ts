/**
 * One pass on a device with faults: the workload runs until it ends or SQLite fails. Then the
 * device works again, and a new VFS and connection check whether the database is undamaged. A
 * failure was requested, so it is a result.
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

/** Timeout of everything after the run, ms. */
const CLOSE_MS = 5_000;
const CHECK_MS = 5_000;
/** Runs in a separate worker. */
const LONG_CHECK_MS = 120_000;

/** A device with faults, in effect. */
export interface FaultyDevice {
  /** Counts so far. */
  tally(): Pick<FaultReport, 'flushes' | 'handles' | 'refused' | 'overQuota'>;
  /** Removes the faults. */
  lift(): void;
  /** Closes what is open as far as possible. The next connection opens what is stored. */
  close(): Promise<void>;
  /** The VFS's text about its last failure; '' = none. */
  lastError(): string;
}

/**
 * @param open opens a new VFS and connection on the stored database
 * @param work the workload; it passes a failure to `ended` instead of throwing it, and removes the
 * faults before it reads back
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
    // SQLite refuses to close a connection that an exception passed through, and a VFS may wait
    // forever
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

/** Whether what a run stored is undamaged. */
export type Found = Pick<FaultReport, 'whole' | 'damage'>;

/**
 * Whether the stored database is undamaged. Runs in a different worker than the run, because a VFS
 * that failed may hold locks as long as its worker lives.
 * @param open opens a new VFS and connection on it
 */
export const checkStored = (run: Run, open: (run: Run) => Promise<OpenHost>): Promise<Found> =>
  look(run, open, LONG_CHECK_MS);

async function look(
  { database: _, ...run }: Run, // checks the state that the run left
  open: (run: Run) => Promise<OpenHost>,
  ms: number,
): Promise<Found> {
  let host: OpenHost | undefined;
  try {
    const damage = await within(
      ms,
      open({ ...run, mode: 'time' }).then(async (opened) => {
        host = opened;
        // a WAL without shared memory only opens with exclusive locking
        await applyConfig(opened.host, run.config, true);
        return integrityOf(opened.host.sqlite3, opened.host.db);
      }),
    );
    await within(CLOSE_MS, host!.close());
    return { whole: damage === null, damage: damage ?? '' };
  } catch (error) {
    return { whole: isDamage(error) ? false : null, damage: words(error) };
  }
}

/** SQLite's own errors, where it can't even read the database. */
function isDamage(error: unknown): boolean {
  const code = Number((error as { code?: unknown }).code) & 255;
  return code === Rc.corrupt || code === Rc.notADb;
}

/** @throws on timeout */
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

/** @param step that failed @param lastError the VFS's text about it; '' = none */
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
