/**
 * Writes to stdout for the commands. A reader that has closed (`| head`) isn't a failure; a full
 * disk is.
 */
import { wrongUse } from './failure.ts';

/**
 * Keep a broken stdout or stderr from ending the process, as Node does for errors without a
 * listener. Callers of `print` get the error; a broken stderr can't be reported.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/**
 * A value as JSON for terminals and machines. Characters that control a terminal (C1) or text
 * direction (overrides) are escaped, which loses nothing.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/**
 * Write all of it to stdout.
 * @returns false if the reader has closed, so further output is useless
 * @throws CommandFailure (exit code 2) if it can't be written
 */
export function print(piece: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, (error) => {
      const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
      if (!error) resolve(true);
      else if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') resolve(false);
      else reject(wrongUse(`The result can't be written to stdout: ${message}.`));
    });
  });
}
