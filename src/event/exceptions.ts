/**
 * How a call of the web layer failed, as the number in its record. The platform's exceptions have
 * names from a short list, and the name distinguishes a NotFoundError, with which a VFS checks
 * whether a file exists, from an exceeded quota. The app's own exceptions are never read.
 */

/** Records hold indices into this list: only append. */
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
/**
 * The platform's own accessor only works for its own exceptions, of any realm, so none of the
 * page's code runs.
 */
const nameOf =
  typeof DOMException === 'function'
    ? (Object.getOwnPropertyDescriptor(DOMException.prototype, 'name')?.get ?? null)
    : null;

/**
 * A record's result for a failure: below 0 an exception of the list, 1 any other, which has no
 * name.
 * @param error what was thrown, if known
 */
export function failureOf(error: unknown): number {
  if (nameOf === null || typeof error !== 'object' || error === null) return 1;
  try {
    const place = NAMES.indexOf(String(apply(nameOf, error, [])));
    return place < 0 ? 1 : -1 - place;
  } catch {
    return 1; // the accessor throws for anything else
  }
}

/** The same for an error that may be absent: 0 = no error. */
export const failureIn = (error: unknown): number =>
  error === null || error === undefined ? 0 : failureOf(error);

/**
 * @param result of a failed call of the web layer
 * @returns null if the exception's name isn't known
 */
export const exceptionName = (result: number): string | null => NAMES[-1 - result] ?? null;
