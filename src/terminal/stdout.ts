/** stdout as the commands write it: a reader that has gone (`| head`) isn't a failure, a full disk is one. */
import { wrongUse } from './failure.ts';

/**
 * Keep a broken stdout or stderr from ending the process by itself, as Node does with an error that has no listener. A caller of
 * `print` hears of it there; a stderr that is gone cannot be reported.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/**
 * A value as JSON for a terminal as well as for machines: what would command the former (C1 controls) or turn its text (overrides of
 * direction) is escaped, which loses nothing.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/**
 * Write all of it to stdout.
 * @returns false when the reader is gone: there is no use in going on
 * @throws CommandFailure (exit code 2) when it cannot be written
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
