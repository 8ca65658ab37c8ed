/** Reads a trace file for a command. */
import { readFile } from 'node:fs/promises';
import { plain } from '../text/clean.ts';
import { TraceFileError } from '../trace/file/format.ts';
import { readTrace, type ReadOptions, type ReadResult } from '../trace/file/read.ts';
import { wrongUse } from './failure.ts';

/** Exit codes of the command line. */
export const Exit = { done: 0, checkFailed: 1, wrongUse: 2, browserFailed: 3 } as const;

/**
 * Print an error on stderr. Keeps line breaks, but removes control sequences for the terminal,
 * which a page's error message may contain.
 */
export function complain(message: string): void {
  process.stderr.write(`vfscope: ${message.split('\n').map(plain).join('\n')}\n`);
}

/**
 * Why a file couldn't be read, as text for the user. @param error of node:fs @param what it should
 * have been
 */
export function cannotRead(path: string, error: unknown, what = 'a file'): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return `${path}: there is no such file.`;
  if (code === 'EISDIR') return `${path} is a folder, not ${what}.`;
  if (code === 'EACCES') return `${path} can't be read: you have no permission to read it.`;
  return `${path} can't be read: ${message}.`;
}

/** @throws CommandFailure (exit code 2) if the file can't be read */
export async function readTraceFile(file: string, options?: ReadOptions): Promise<ReadResult> {
  const bytes = await readFile(file).catch((e: unknown) => {
    throw wrongUse(cannotRead(file, e, 'a trace file'));
  });
  return readTrace(bytes, options).catch((e: unknown) => {
    throw e instanceof TraceFileError ? wrongUse(`${file}: ${e.message}`) : e;
  });
}

/** The same; warnings go to stderr. */
export async function openTrace(file: string): Promise<ReadResult> {
  const result = await readTraceFile(file);
  for (const warning of result.warnings) complain(`${file}: ${warning}`);
  return result;
}
