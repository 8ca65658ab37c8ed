/** A trace's report in one HTML file, with a static timeline. */
import { Facts } from '../analysis/core/graph.ts';
import { FINDINGS, reportOf } from '../analysis/report/report.ts';
import { ACTIVITIES } from '../event/operations.ts';
import type { TraceStore } from '../trace/store.ts';
import { blockHtml, htmlPage, LONGEST, section } from './html-page.ts';
import { ACTIVITY_COLORS, svgTimeline } from './svg-timeline.ts';

const MAX_ROWS = 200;

function timeline(store: TraceStore): string {
  const picture = svgTimeline(store);
  if (!picture) return section('Timeline', '<p>The recording has no calls.</p>');
  const legend = ACTIVITIES.map((a, i) =>
    i ? `<span><i style="background:${ACTIVITY_COLORS[i]}"></i>${a}</span>` : '',
  );
  return section(
    'Timeline',
    `<p class="legend">${legend.join('')}</p><div class="box">${picture}</div>`,
  );
}

/** A damaged file can hold any number here. */
function recordedAt(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'at an unknown time' : date.toISOString();
}

/**
 * The report, with what to do before the long tables.
 * @param of a trace, or its facts @param title the trace's name @param plans as in `ReportOptions`
 */
export function htmlReport(
  of: TraceStore | Facts,
  title = 'vfscope trace',
  plans?: ReadonlyMap<string, string>,
): string {
  const facts = of instanceof Facts ? of : new Facts(of);
  const { store } = facts;
  const report = reportOf(facts, { most: MAX_ROWS, longest: LONGEST, ...(plans && { plans }) });
  const long = report.blocks.findIndex(({ table }) => table);
  const findings = report.blocks.filter(({ heading }) => heading === FINDINGS);
  const tables = report.blocks.slice(long).filter((block) => !findings.includes(block));
  return htmlPage({
    title,
    note: `${report.title}. Recorded ${recordedAt(store.originMs)}.`,
    body: [
      ...[...report.blocks.slice(0, long), ...findings].map(blockHtml),
      timeline(store),
      ...tables.map(blockHtml),
    ],
  });
}
