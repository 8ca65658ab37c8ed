import type { Parameters, Workload } from './types.ts';

/**
 * The given parameters, with the workload's defaults for the others.
 * @throws on an unknown or invalid parameter
 */
export function parametersOf(workload: Workload, given: Parameters = {}): Parameters {
  const out: Record<string, number> = {};
  for (const [name, { default: value }] of Object.entries(workload.parameters)) out[name] = value;
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(workload.parameters, name) ? workload.parameters[name] : undefined;
    if (!known)
      throw new Error(
        `${workload.id} has no parameter "${name}"; it has ${Object.keys(out).join(', ') || 'none'}.`,
      );
    if (!(Number.isInteger(value) && value >= known.least && value <= known.most))
      throw new Error(
        `${name}=${value}: expected a whole number from ${known.least} to ${known.most} (${known.what}).`,
      );
    out[name] = value;
  }
  return out;
}
