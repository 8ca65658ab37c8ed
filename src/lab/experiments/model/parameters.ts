import type { Parameters, Workload } from './types.ts';

/** The workload's defaults under what is given. @throws on an unknown or impossible parameter */
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
