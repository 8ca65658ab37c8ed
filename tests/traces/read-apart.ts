// Reads a trace file in a separate process, and reports its cost: run by
// tests/unit/trace-bombs.test.ts.
import { readFileSync } from 'node:fs';
import { readTrace } from '../../src/trace/file/read.ts';

const bytes = readFileSync(process.argv[2]!);
const { user, system } = process.cpuUsage();
const said = await readTrace(bytes).then(
  ({ warnings, store }) => ({ warnings, events: store.eventCount }),
  (e: unknown) => ({ refused: String(e) }),
);
const now = process.cpuUsage();
const cost = { cpuSeconds: (now.user - user + now.system - system) / 1e6, mostMB: process.resourceUsage().maxRSS / 1024 };
console.log(JSON.stringify({ ...said, ...cost }));
