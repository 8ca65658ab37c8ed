/**
 * `vfscope findings FILE [--json] [--short] [--rule F01]`: what to change in the app, the largest
 * saving first, and what makes the trace's numbers misleading.
 */
import { experimentFor } from '../lab/experiments/documents/tries.ts';
import { badges, findings, RULES, type Finding } from '../analysis/findings/index.ts';
import { accounts } from '../analysis/findings/accounts.ts';
import { accountsBlock } from '../analysis/report/report-accounts.ts';
import { explained, explainedText } from '../analysis/findings/explanation.ts';
import { Facts } from '../analysis/core/graph.ts';
import { findingFacts, noFindings } from '../analysis/findings/finding-facts.ts';
import type { Block, Report } from '../analysis/report/blocks.ts';
import { formatCount } from '../text/numbers.ts';
import type { FindingPlans } from '../plan/finding-plans.ts';
import { planLines, runFacts } from '../plan/plan-words.ts';
import type { StatementPlan } from '../plan/types.ts';
import { plansOfFindings } from './plan-wasm.ts';
import { agentContext, agentList, agentText, shortFinding } from '../analysis/report/agent-text.ts';
import { wrongUse } from '../terminal/failure.ts';
import { reportText } from '../terminal/report-text.ts';
import { Exit, openTrace } from '../terminal/open-file.ts';
import { jsonText, print } from '../terminal/stdout.ts';

/** @returns the exit code: 0 even if there are findings; 2 if the file can't be read */
export async function findingsCommand({
  file,
  json,
  short = false,
  rule,
}: {
  file: string;
  json: boolean;
  /** Without the events behind each finding: for a coding agent or, as JSON, for other tools. */
  short?: boolean;
  /** Show findings of this rule only. */
  rule?: string;
}): Promise<number> {
  if (rule !== undefined && !RULES.some(({ id }) => id === rule))
    throw wrongUse(`--rule ${rule}: there is no such rule. Expected one such as F01.`);
  const trace = await openTrace(file);
  const facts = new Facts(trace.store);
  const plans = await plansOfFindings(facts);
  const wanted = (finding: Finding): boolean => rule === undefined || finding.rule === rule;
  if (json) await print(jsonText(findingsJson(facts, plans, wanted, short)));
  else if (short)
    await print(agentFindings(facts, plans, rule === undefined ? null : wanted, file));
  else await print(reportText(findingsReport(facts, plans, wanted)));
  return Exit.done;
}

const NEEDS = { findings, badges, explained, accounts };

/** Each finding with the plan of its statement. */
function findingsJson(
  facts: Facts,
  plans: FindingPlans,
  wanted: (finding: Finding) => boolean,
  short: boolean,
): object {
  const known = facts.known(NEEDS);
  return {
    ...known,
    findings: known.findings.filter(wanted).map((finding) => {
      if (short) return shortFinding(finding);
      const plan = plans.get(finding.statement ?? '');
      return plan ? { ...finding, plan } : finding;
    }),
  };
}

/** @param wanted which findings to show in full; null = list all */
function agentFindings(
  facts: Facts,
  plans: FindingPlans,
  wanted: ((finding: Finding) => boolean) | null,
  file: string,
): string {
  const known = facts.known({ findings, agentContext, noFindings });
  if (!wanted) return agentList(known.findings, known.noFindings);
  const found = known.findings.filter(wanted);
  if (!found.length) return agentList(found, 'No finding of this rule.');
  return found
    .map((finding) => {
      const plan = plans.get(finding.statement ?? '');
      return agentText(finding, known.agentContext, { file, plan: plan ? planLines(plan) : [] });
    })
    .join('\n');
}

const planBlock = (plan: StatementPlan): string[] => [
  `Query plan, ${runFacts(plan.runs)}:`,
  ...planLines(plan).map((line) => `  ${line}`),
  ...(plan.lacksSchema ? ['  Give the database: npx vfscope plans FILE.vfst --database FILE'] : []),
];

/** One block for each finding. @param plans of statements that findings are about */
export function findingsReport(
  facts: Facts,
  plans: FindingPlans = new Map(),
  wanted: (finding: Finding) => boolean = () => true,
): Report {
  const { findings: all, badges, explained: known, accounts } = facts.known(NEEDS);
  const findings = all.filter(wanted);
  const caveats = badges.map((b) => `! ${b.badge}: ${b.say}`);
  const blocks = findings.map((f, i): Block => {
    const experiment = f.tryInLab === undefined ? undefined : experimentFor(f.tryInLab);
    const plan = plans.get(f.statement ?? '');
    return {
      heading: `${i + 1}. ${f.title}  [${f.rule}]`,
      facts: [
        ...findingFacts(f),
        ['More', f.link],
        ...(experiment
          ? [['Try it', `npx vfscope lab run ${experiment.id}   (on its own storage)`] as const]
          : []),
      ],
      ...(plan && { lines: planBlock(plan) }),
    };
  });
  return {
    title: `Findings: ${formatCount(findings.length)}`,
    blocks: [
      ...(caveats.length ? [{ heading: 'Caveats', lines: caveats }] : []),
      ...(findings.length ? blocks : [{ heading: facts.get(noFindings) }]),
      ...accountsBlock(accounts),
      ...(findings.length && known ? [{ heading: explainedText(known) }] : []),
    ],
  };
}
