/**
 * The result of a fault profile as a claim: whether the database is undamaged afterwards, and what
 * SQLite answered.
 */
import { hasFaults, type FaultReport } from './faults.ts';
import type { RunResult, Verdict } from './result-types.ts';
import type { Config } from './types.ts';
import { countOf, formatBytes, formatExact } from '../../../text/numbers.ts';

const none = { left: null, right: null } as const;

const ABSENT = "The fault didn't happen";
const WHOLE = 'The database is intact after the fault';
/**
 * Whether a verdict is about a fault profile of a run or a variant. Then it isn't one of an
 * experiment's claims.
 */
export const isOfFault = ({ text }: Verdict): boolean =>
  text.endsWith(ABSENT) || text.endsWith(WHOLE);

/** @returns null for a run without a fault profile */
export function faultVerdict({ run, fault }: Omit<RunResult, 'verdicts'>): Verdict | null {
  if (!fault || !hasFaults(run.config)) return null;
  const told = [...whatHappened(run.config, fault), answered(fault)];
  const absent = whyAbsent(run.config, fault);
  if (absent)
    return {
      ...none,
      text: ABSENT,
      holds: null,
      why: [absent, ...told].join('. '),
    };
  const found =
    fault.whole === true
      ? 'integrity_check found no damage'
      : fault.whole === null
        ? `integrity_check could not run: ${fault.damage}`
        : `integrity_check: ${fault.damage}`;
  return {
    ...none,
    text: WHOLE,
    holds: fault.whole,
    why: [...told, found].join('. '),
  };
}

function whatHappened({ quota, slowFlush, refusedHandle }: Config, fault: FaultReport): string[] {
  return [
    ...(fault.flushes
      ? [`${countOf(fault.flushes, 'flush', 'flushes')} took ${slowFlush} ms longer`]
      : []),
    ...(fault.refused
      ? [`The browser refused access handle ${formatExact(refusedHandle ?? 0)}`]
      : []),
    ...(fault.overQuota
      ? [`${countOf(fault.overQuota, 'write')} failed beyond ${formatBytes(quota ?? 0)}`]
      : []),
  ];
}

function answered({ answer }: FaultReport): string {
  if (!answer) return 'No statement failed';
  const { step, code, message } = answer;
  const where = step === 'open' ? 'when the database was opened' : `in step ${step}`;
  return code
    ? `SQLite answered ${code} ${where} (${message})`
    : `No SQLite code: an exception ended the run ${where} (${message})`;
}

/** Why no part of the profile took effect; '' where one did. */
function whyAbsent({ slowFlush, refusedHandle, quota }: Config, fault: FaultReport): string {
  if (fault.flushes + fault.refused + fault.overQuota > 0) return '';
  return [
    ...(slowFlush ? ['nothing was flushed'] : []),
    ...(refusedHandle
      ? [
          `the run opened ${countOf(fault.handles, 'access handle')}, fewer than ${formatExact(refusedHandle)}`,
        ]
      : []),
    ...(quota ? [`the run stored less than ${formatBytes(quota)}`] : []),
  ].join(', and ');
}

/** Why a run's counts decide nothing: it ended early. '' where it didn't. */
export const endedWhy = ({ fault }: Pick<RunResult, 'fault'>): string =>
  fault?.answer ? `the run ended early with ${fault.answer.code ?? 'an exception'}` : '';
