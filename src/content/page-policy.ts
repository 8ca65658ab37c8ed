/**
 * Tells the hook, synchronously, what this document's policies block: those of its response headers
 * and those in its head.
 */
import {
  ANY_REFUSAL,
  REFUSALS,
  REFUSED_KEY,
  refusalsOf,
  type Refusal,
} from '../protocol/page-policy.ts';

type Realm = Partial<Record<typeof REFUSED_KEY, Refusal[]>> & { vfscopeRefusals?: typeof refusals };
const realm = globalThis as Realm;

/** Policies of meta elements. They stay in force after the element is removed. */
const found = new Set<string>();
const look = (): void =>
  document
    .querySelectorAll<HTMLMetaElement>('head > meta[http-equiv="content-security-policy" i]')
    .forEach(({ content }) => void found.add(content));

/**
 * A document without its own response inherits the policies of its creator, whose content script we
 * can ask.
 */
function refusedAround(): readonly Refusal[] {
  if (/^https?:$/.test(location.protocol)) return [];
  try {
    return ((window.opener ?? parent) as Realm).vfscopeRefusals?.() ?? [];
  } catch {
    return []; // of another origin, as a sandboxed frame is
  }
}

function refusals(): readonly Refusal[] {
  look();
  return [
    ...(realm[REFUSED_KEY] ?? []),
    ...refusalsOf([...found].join(), origin),
    ...(window !== parent || window.opener ? refusedAround() : []),
  ];
}

/** The background has reported what this document's headers block. */
export const headersRefuse = (refused: Refusal[]): void =>
  void (realm[REFUSED_KEY] ??= []).push(...refused);

/**
 * Answers questions on the hook's line: an event of that name, whose default is prevented. The
 * app's listeners can't hear it.
 */
export function answerPolicy(line: MessagePort): void {
  const answer = (question: string, isSo: () => boolean): void =>
    line.addEventListener(question, (event) => {
      if (isSo()) event.preventDefault();
    });
  answer(ANY_REFUSAL, () => refusals().length > 0);
  for (const refusal of REFUSALS) answer(refusal, () => refusals().includes(refusal));
}

/** Start answering. */
export function watchPolicies(): void {
  realm.vfscopeRefusals = refusals;
  document.addEventListener('DOMContentLoaded', look, { capture: true, once: true });
}
