/**
 * `vfscope fleet add INPUTS --out DIR`, `fleet compact DIR`, `fleet report DIR`: many traces and
 * field reports as one data set (docs/fleet.md).
 */
import { availableParallelism } from 'node:os';
import { inputAdder } from '../fleet/add.ts';
import { compact } from '../fleet/compact.ts';
import { inShard, inputsOf, shardOf } from '../fleet/inputs.ts';
import type { Labels } from '../fleet/lives.ts';
import { addAsTold, inProcesses, isTold } from '../fleet/processes.ts';
import { fleetReport, fleetReportDocument, GROUPS, type GroupBy } from '../fleet/report.ts';
import { reportMarkdown } from '../analysis/report/report-markdown.ts';
import { countOf, formatCount } from '../text/numbers.ts';
import { wrongUse } from '../terminal/failure.ts';
import { complain, Exit } from '../terminal/open-file.ts';
import { reportText } from '../terminal/report-text.ts';
import { jsonText, print } from '../terminal/stdout.ts';

/** Below this many inputs, one process finishes before another has started. */
const FEW_INPUTS = 16;

interface AddOptions {
  paths: readonly string[];
  out: string;
  /** As `release=1.2`. */
  labels?: readonly string[];
  sanitize?: boolean;
  /** As `1/4`: the part of the inputs that this machine processes. */
  shard?: string;
  /** Print what was done as one JSON object on stdout. */
  json?: boolean;
}

/**
 * @returns the exit code: 0; 2 if an input couldn't be read and was skipped, or there is no input
 * @throws CommandFailure (exit code 2) for wrong arguments, or if the data set can't be written
 */
export async function fleetAdd({
  paths,
  out,
  labels = [],
  sanitize = false,
  shard,
  json = false,
}: AddOptions): Promise<number> {
  if (isTold()) {
    await addAsTold(complain);
    return Exit.done;
  }
  const own = shard === undefined ? null : shardOf(shard);
  const known = labelsOf(labels);
  const all = inputsOf(paths);
  if (!all.length)
    throw wrongUse(`${paths.join(', ')}: no .vfst recordings and no .json reports found.`);
  const processes = own ? 1 : Math.min(availableParallelism(), Math.ceil(all.length / FEW_INPUTS));
  const adding = { out, labels: known, sanitize, all };
  const {
    added,
    known: before,
    leftOut,
  } = processes > 1
    ? await inProcesses(processes, adding)
    : await inputAdder(adding, complain)(own ? inShard(all, own) : all);
  if (json) await print(jsonText({ out, added, known: before, leftOut }));
  else
    complain(
      `${formatCount(added)} added to ${out}, ${formatCount(before)} already in it, ${formatCount(leftOut)} left out.`,
    );
  return leftOut ? Exit.wrongUse : Exit.done;
}

/** @throws CommandFailure */
function labelsOf(words: readonly string[]): Labels {
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([a-z][\w-]*)=(.+)$/i.exec(word) ?? [];
      if (!name || !value)
        throw wrongUse(`--label ${word}: expected name=value, such as release=1.2.`);
      return [name, value];
    }),
  );
}

/**
 * @returns the exit code 0 @throws CommandFailure (exit code 2) if it can't be written, or another
 * process is compacting it
 */
export async function fleetCompact(root: string, json = false): Promise<number> {
  const { before, after } = await compact(root);
  if (json) await print(jsonText({ out: root, before, after }));
  else complain(`${countOf(before, 'file')} of ${root} are ${formatCount(after)} now.`);
  return Exit.done;
}

/**
 * @returns the exit code 0 @throws CommandFailure (exit code 2) for an unknown group, or if there
 * is no data set
 */
export async function fleetReportCommand({
  root,
  by,
  json = false,
  markdown = false,
}: {
  root: string;
  by?: string;
  json?: boolean;
  markdown?: boolean;
}): Promise<number> {
  if (json && markdown) throw wrongUse("--markdown can't be combined with --json.");
  const group = GROUPS.find((name) => name === by) ?? null;
  if (by !== undefined && !group)
    throw wrongUse(`--by ${by}: expected one of ${GROUPS.join(', ')}.`);
  const report = await fleetReport(root, group as GroupBy | null);
  if (!report.lives)
    throw wrongUse(`${root} has no recordings or reports. Add some with vfscope fleet add.`);
  const document = fleetReportDocument(report);
  await print(json ? jsonText(report) : markdown ? reportMarkdown(document) : reportText(document));
  return Exit.done;
}
