/** `vfscope findings FILE [--json]`: what the trace says should change, the largest saving first, and what makes its numbers mislead. */
import { experimentFor } from '../lab/experiments/documents/tries.ts';
import { badges, findings } from '../analysis/findings/index.ts';
import { accounts } from '../analysis/findings/accounts.ts';
import { accountsBlock } from '../analysis/report/report-accounts.ts';
import { explained, explainedText } from '../analysis/findings/explanation.ts';
import { Facts } from '../analysis/core/graph.ts';
import { findingFacts, noFindings } from '../analysis/findings/finding-facts.ts';
import type { Block, Report } from '../analysis/report/blocks.ts';
import { formatCount } from '../text/numbers.ts';
import { reportText } from '../terminal/report-text.ts';
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
  const facts = new Facts(trace.store);
  await print(json ? jsonText(facts.known(NEEDS)) : reportText(findingsReport(facts)));
  return Exit.done;
}

const NEEDS = { findings, badges, explained, accounts };

/** A block each. */
export function findingsReport(facts: Facts): Report {
  const { findings, badges, explained: known, accounts } = facts.known(NEEDS);
  const caveats = badges.map((b) => `! ${b.badge}: ${b.say}`);
  const blocks = findings.map((f, i): Block => {
    const experiment = f.tryInLab === undefined ? undefined : experimentFor(f.tryInLab);
    return {
      heading: `${i + 1}. ${f.title}  [${f.rule}]`,
      facts: [
        ...findingFacts(f),
        ['More', f.link],
        ...(experiment ? [['Experiment', `vfscope lab run ${experiment.id}`] as const] : []),
      ],
    };
  });
  const overlap = findings.some((f) => f.savingUs !== null);
  return {
    title: `Findings: ${formatCount(findings.length)}`,
    blocks: [
      ...(caveats.length ? [{ heading: 'Caveats', lines: caveats }] : []),
      ...(findings.length ? blocks : [{ heading: facts.get(noFindings) }]),
      ...accountsBlock(accounts),
      ...(findings.length && known ? [{ heading: explainedText(known) }] : []),
      ...(overlap ? [{ heading: "Savings overlap: don't add them up." }] : []),
    ],
  };
}
