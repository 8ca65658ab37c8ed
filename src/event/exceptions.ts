/**
 * How a call of the web layer failed, as the number that its record holds: the platform's exceptions have names from a short list, and a
 * name tells NotFoundError, by which a VFS looks whether a file is there, from a quota that is used up. What an app throws is never read.
 */

/** Records hold places in this list: append only. */
const NAMES = [
  'NotFoundError',
  'NoModificationAllowedError',
  'InvalidStateError',
  'QuotaExceededError',
  'AbortError',
  'ConstraintError',
  'DataError',
  'TransactionInactiveError',
  'ReadOnlyError',
  'VersionError',
  'UnknownError',
  'NotAllowedError',
  'SecurityError',
  'NotReadableError',
  'TypeMismatchError',
  'InvalidAccessError',
  'DataCloneError',
  'TimeoutError',
  'SyntaxError',
  'NotSupportedError',
  'OperationError',
  'InvalidModificationError',
  'EncodingError',
];
const { apply } = Reflect; // before the app can replace it
/** The platform's own accessor answers for its own exceptions, of any realm, and for nothing else: no code of the page runs. */
const nameOf =
  typeof DOMException === 'function'
    ? (Object.getOwnPropertyDescriptor(DOMException.prototype, 'name')?.get ?? null)
    : null;

/** A record's result for a failure: below 0 an exception of the list, 1 any other, which has no name. @param error what was thrown, if known */
export function failureOf(error: unknown): number {
  if (nameOf === null || typeof error !== 'object' || error === null) return 1;
  try {
    const place = NAMES.indexOf(String(apply(nameOf, error, [])));
    return place < 0 ? 1 : -1 - place;
  } catch {
    return 1; // the accessor refuses what isn't an exception of the platform
  }
}

/** The same of an error that may not be there: 0, done, without one. */
export const failureIn = (error: unknown): number =>
  error === null || error === undefined ? 0 : failureOf(error);

/** @param result of a failed call of the web layer @returns null where the exception's name is not known */
export const exceptionName = (result: number): string | null => NAMES[-1 - result] ?? null;
