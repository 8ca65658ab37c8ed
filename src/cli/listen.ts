/** `vfscope listen`: records pages that load the hook from this machine, until Ctrl+C. */
import type { CaptureOptions } from '../event/capture.ts';
import { listenForInterrupt } from '../drive/interrupt.ts';
import { Receiver } from '../listen/receiver.ts';
import { listen } from '../listen/server.ts';
import { browserFailed, wrongUse } from '../terminal/failure.ts';
import { complain, Exit } from '../terminal/open-file.ts';
import { checkWritable, writeWhole } from '../terminal/write-file.ts';
import { printAnswer } from './answer.ts';

interface ListenArgs {
  out: string;
  port?: string;
  /** Origins of pages that aren't on this machine. */
  origins: readonly string[];
  capture?: Partial<CaptureOptions>;
  json?: boolean;
}

/**
 * @returns the exit code. Instructions for loading the hook go to stderr, results of the recording
 * to stdout.
 */
export async function listenCommand({
  out,
  port,
  origins,
  capture,
  json = false,
}: ListenArgs): Promise<number> {
  const say = (line: string): void => console.error(line);
  await checkWritable(out);
  const receiver = new Receiver(complain);
  const server = await listen({
    receiver,
    port: portOf(port),
    origins: origins.map(originOf),
    hook: capture ?? {},
  }).catch((e: Error) => {
    throw wrongUse(`vfscope can't listen: ${e.message}`);
  });
  say(`Load this script before all others, in the page and in workers that it doesn't reach:

  <script src="${server.script}"></script>
  importScripts('${server.script}');

A phone that is connected by USB: adb reverse tcp:${new URL(server.script).port} tcp:${new URL(server.script).port}
Recording, until Ctrl+C.`);
  const interrupt = listenForInterrupt(say);
  await interrupt.first;
  await server.close();
  interrupt.ignore();
  if (!receiver.threadCount)
    throw browserFailed('No page has sent anything, so there is nothing to save.');
  await writeWhole(out, [await receiver.bytes()]);
  await printAnswer(out, json);
  return Exit.done;
}

function portOf(text = '0'): number {
  const port = Number(text);
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw wrongUse(`--port ${text}: expected a number from 0 to 65535.`);
  return port;
}

function originOf(text: string): string {
  if (!URL.canParse(text) || new URL(text).origin !== text)
    throw wrongUse(`--origin ${text}: expected an origin such as https://app.example.com.`);
  return text;
}
