/**
 * Well-tuned apps (tests/oracle/tuned.ts) recorded by the panel in Chromium, and the claims of
 * findings.
 */
import { expect } from 'vitest';
import { findings } from '../../src/analysis/findings/index.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import { openPanel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { openApp, runApp } from '../oracle/baseline.ts';
import { tunedOptions, type TUNED_APPS } from '../oracle/tuned.ts';
import { createServer } from '../server/server.mjs';
import { launch, openNothing, savedStore } from './extension-harness.ts';

/** Share of the time while SQL runs. */
const MOST = 0.02;

/**
 * Check that no finding saves more than 2 % of the time, and that none fires without a known
 * saving. @returns a line for each that fires
 */
export async function judgeTuned(app: (typeof TUNED_APPS)[number]): Promise<string[]> {
  const [driven, server] = await Promise.all([launch(), createServer()]);
  try {
    const page = await driven.firstPage();
    const origin = server.origin('tuned');
    await openNothing(page, origin);
    const panel = await openPanel(page);
    await startRecording(panel);
    await openApp(page, origin + app.path);
    const { integrity } = await runApp(page, 'sql', tunedOptions(app));
    expect(integrity).toBe('ok');
    await stopRecording(panel);
    const store = await savedStore(driven, panel);
    expect(store.dropped).toBe(0);
    const facts = new Facts(store);
    const timeUs = facts.get(totalTimeInSql)!;
    // F53 is correct for all of them: these apps pass each statement to SQLite as text
    const tuned = facts.get(findings).filter(({ rule }) => rule !== 'F53');
    const found = tuned.map(({ rule, savingUs, confidence, title }) => {
      const share = savingUs === null ? null : savingUs / timeUs;
      const saves = share === null ? 'unknown' : `${(100 * share).toFixed(1)} %`;
      const alarm = share === null ? !app.ofTheVfs?.includes(rule) : share > MOST;
      return { alarm, line: `${rule} (${saves}, ${confidence}): ${title}` };
    });
    expect(found.filter(({ alarm }) => alarm).map(({ line }) => line)).toEqual([]);
    return found.map(({ line }) => line);
  } finally {
    await driven.close();
    await server.close();
  }
}
