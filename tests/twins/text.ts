/** The **Twin** lines of docs/rules-tested.md, and the **Tested** lines of docs/findings.md. */
import { countOf, formatCount, formatDuration, formatShare } from '../../src/text/numbers.ts';
import { callsHold, timeError, type Outcome } from './measure.ts';
import type { Pair } from './pairs.ts';

const time = (ms: number): string =>
  ms < 0 ? `-${formatDuration(-ms * 1000)}` : formatDuration(ms * 1000);

/** Predicted, measured, error. */
function timeText(outcome: Outcome): string {
  const { predictedMs, measuredMs, rangeMs, pairs } = outcome;
  if (predictedMs === null) return 'It claims no saving.';
  const error = timeError(outcome)!;
  const [least, most] = rangeMs;
  const spread =
    pairs === 1 ? '1 pair' : `median of ${countOf(pairs, 'pair')}, ${time(least)} to ${time(most)}`;
  const measured = `measured ${time(measuredMs)} (${spread})`;
  const off =
    measuredMs <= 0
      ? 'no time was saved'
      : `${formatShare(Math.abs(error))} too ${error < 0 ? 'low' : 'high'}`;
  return `Predicted ${time(predictedMs)}, ${measured}: ${off}.`;
}

/** The exact calls. */
function callsText(outcome: Outcome, pair: Pair): string {
  const { calls } = outcome;
  if (calls.length === 0) return '';
  const list = (of: typeof calls, text: (call: (typeof calls)[number]) => string): string =>
    of.map(text).join(', ');
  if (callsHold(outcome, pair))
    return ` Calls avoided: ${list(calls, ({ name, predicted }) => `${formatCount(predicted)} \`${name}\``)}, ${pair.calls === 'least' ? 'at least, as predicted' : 'as predicted'}.`;
  const wrong = calls.filter((call) => !callsHold({ ...outcome, calls: [call] }, pair));
  return ` Calls avoided, predicted and measured: ${list(wrong, ({ name, predicted, measured }) => `\`${name}\` ${formatCount(predicted)} and ${formatCount(measured)}`)}${wrong.length < calls.length ? '; the others as predicted' : ''}.`;
}

/** The outcome of a pair. */
export function twinText(pair: Pair, outcome: Outcome): string {
  const { shows, instead, injected } = pair;
  const how = injected ? `Shown by an injected fault (${injected})` : 'Recorded';
  const again = outcome.seenInTwin
    ? ` Seen ${formatCount(outcome.seen)} times, in the twin ${formatCount(outcome.seenInTwin)}.`
    : '';
  return `${how}: ${shows}. Its twin: ${instead}. ${timeText(outcome)}${callsText(outcome, pair)}${again}`;
}

/** How close a rule's estimate came, for users. @param pair undefined if there is none */
export function testedText(pair?: Pair, outcome?: Outcome): string {
  if (!pair || !outcome) return 'Not by making the change in a real browser.';
  const { seen, seenInTwin, predictedMs, measuredMs, rangeMs, pairs } = outcome;
  const how = pair.injected ? 'With a simulated fault: ' : '';
  if (predictedMs === null)
    return `${how}${how ? 'found' : 'Found'} ${countOf(seen, 'time')} before the change, ${seenInTwin ? formatCount(seenInTwin) : 'not'} after it. It estimates no saving.`;
  const [least, most] = rangeMs;
  const spread =
    pairs === 1 ? '' : ` (${time(least)} to ${time(most)} in ${countOf(pairs, 'try', 'tries')})`;
  return `${how}${how ? 'estimated' : 'Estimated'} ${time(predictedMs)}, saved ${time(measuredMs)}${spread}.`;
}
