/**
 * CPU samples as a flame graph: each statement with the functions on its stacks, or the other way
 * around. A statement is as wide as its time, which is divided among its samples.
 */
import { isOnCpu, type CpuSamples } from '../../trace/cpu-samples.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import type { Facts } from '../core/graph.ts';
import { getOrMake } from '../core/maps.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { PART, PARTS } from '../core/time-parts.ts';
import {
  graphOf,
  invertedOf,
  newNode,
  statementOf,
  type FlameGraph,
  type Node,
} from '../statements/flame-graph.ts';
import { recordedTexts } from '../core/recorded-texts.ts';
import { statementsIn } from '../statements/statements-in-scope.ts';
import { within } from '../statements/statement-counts.ts';
import { functionTitles } from './hot-functions.ts';
import { sampleStatements } from './sample-statements.ts';

/** What `cpuFlames` needs. */
export const CPU_FLAME_NEEDS = { sampleStatements, recordedTexts, functionTitles };

/**
 * From the samples that were taken while SQL ran.
 * @param scope its range, thread, statement, and part of the time @param inverted functions at the
 * top, with their callers below
 * @returns null if no thread was sampled
 */
export function cpuFlames(facts: Facts, scope: Scope, inverted = false): FlameGraph | null {
  const known = facts.known(CPU_FLAME_NEEDS);
  const taken = statementsIn(facts, scope);
  const top = newNode('statement', null);
  const sampled = facts.store.threads.filter(({ cpu }) => cpu !== null);
  if (sampled.length === 0) return null;
  for (const thread of sampled) {
    if (!isInScope(thread, scope)) continue;
    const { samples, texts, nsOf } = known.sampleStatements.of(thread)!;
    const { functions, called, frames, us } = samples;
    const nodeOf = nodesOf(samples, functions.map(known.functionTitles));
    const textOf = fingerprintsOf(thread);
    texts.forEach((id, i) => {
      if (id < 0 || !within(us[i]!, scope)) return;
      const text = textOf(id);
      const frame = frames[i]!;
      const part = isOnCpu(functions[called[frame]!]!) ? PART.cpu : PART.other;
      if ((taken && !taken(text)) || (scope.part && scope.part !== PARTS[part])) return;
      const leaf = nodeOf(statementOf(top, text), frame);
      leaf.self[part]! += nsOf(id);
      leaf.calls++;
    });
  }
  if (inverted) return graphOf(invertedOf(top), true, known.recordedTexts);
  addCalls(top);
  return graphOf(top, true, known.recordedTexts);
}

/** @param names of its functions @returns the node of a frame below that of its statement */
function nodesOf(
  { parents, called }: CpuSamples,
  names: readonly string[],
): (statement: Node, frame: number) => Node {
  const known = new Map<Node, Map<number, Node>>();
  return (statement, frame) => {
    const nodes = getOrMake(known, statement, () => new Map<number, Node>());
    const path: number[] = [];
    for (let at = frame; at >= 0 && !nodes.has(at); at = parents[at]!) path.push(at);
    for (const at of path.reverse()) {
      const above = parents[at]! < 0 ? statement : nodes.get(parents[at]!)!;
      const name = names[called[at]!]!;
      nodes.set(
        at,
        getOrMake(above.below, name, () => newNode('function', name)),
      );
    }
    return nodes.get(frame)!;
  };
}

/** A sample counts for all frames on its stack. */
function addCalls(node: Node): number {
  for (const below of node.below.values()) node.calls += addCalls(below);
  return node.calls;
}
