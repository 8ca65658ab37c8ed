/** `vfscope findings FILE [--json]`: what the trace says should change, the largest saving first, and what makes its numbers mislead. */
import { experimentFor } from '../lab/experiments/documents/tries.ts';
import { badges, findings, type Badge, type Finding } from '../analysis/findings/index.ts';
import { explained, explainedText, type Explained } from '../analysis/findings/explained.ts';
import { Facts } from '../analysis/core/graph.ts';
import { shown } from '../text/clean.ts';
import { formatDuration } from '../text/numbers.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';

/** @returns the exit code: 0, also where something was found; 2 when the file cannot be read */
export async function findingsCommand({
  file,
  json,
}: {
  file: string;
  json: boolean;
}): Promise<number> {
  const trace = await openTrace(file);
  const known = new Facts(trace.store).known({ findings, badges, explained });
  await print(json ? jsonText(known) : findingsText(known));
  return Exit.done;
}

/** Findings as plain text, one paragraph each. Control characters of the trace do not reach the terminal. */
function findingsText({
  findings,
  badges,
  explained: known,
}: {
  findings: readonly Finding[];
  badges: readonly Badge[];
  explained: Explained | null;
}): string {
  const lines = badges.map((b) => `! ${b.badge}: ${b.say}`);
  if (badges.length) lines.push('');
  if (findings.length === 0)
    lines.push('No findings: none of the known patterns is in this trace.');
  findings.forEach((f, i) => {
    const saving =
      f.savingUs === null
        ? `saving not known: ${f.savingHow}`
        : `saves about ${formatDuration(f.savingUs)}: ${f.savingHow}`;
    const experiment = f.tryInLab === undefined ? undefined : experimentFor(f.tryInLab);
    lines.push(
      `${i + 1}. ${f.title}  [${f.rule}]`,
      `   ${f.advice}`,
      `   ${saving}`,
      `   ${f.confidence}: ${f.reason}`,
      `   ${f.link}`,
      ...(experiment ? [`   try it both ways: vfscope lab run ${experiment.id}`] : []),
      '',
    );
  });
  if (findings.length && known) lines.push(explainedText(known));
  if (findings.some((f) => f.savingUs !== null)) lines.push("Savings overlap: don't add them up.");
  return `${lines
    .map((line) => shown(line))
    .join('\n')
    .trimEnd()}\n`;
}
