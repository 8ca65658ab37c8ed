/** Answers the hook, within its own call, what the policies of this document refuse: those of its response, and those in its head. */
import { REFUSALS, REFUSED_KEY, refusalsOf, type Refusal } from '../protocol/page-policy.ts';

type Realm = Partial<Record<typeof REFUSED_KEY, Refusal[]>> & { vfscopeRefuses?: typeof refuses };
const realm = globalThis as Realm;

/** Policies of meta elements. They stay in force when the element goes. */
const found = new Set<string>();
const look = (): void =>
  document
    .querySelectorAll<HTMLMetaElement>('head > meta[http-equiv="content-security-policy" i]')
    .forEach(({ content }) => void found.add(content));

/** A document without a response of its own has the policies of the one that made it, whose content script we can ask. */
function refusedAround(refusal: Refusal): boolean {
  if (/^https?:$/.test(location.protocol)) return false;
  try {
    return ((window.opener ?? parent) as Realm).vfscopeRefuses?.(refusal) ?? false;
  } catch {
    return false; // of another origin, as a sandboxed frame is
  }
}

function refuses(refusal: Refusal): boolean {
  look();
  if (
    realm[REFUSED_KEY]?.includes(refusal) ||
    refusalsOf([...found].join(), origin).includes(refusal)
  )
    return true;
  return window !== parent || window.opener ? refusedAround(refusal) : false;
}

/** The background has said what this document's headers refuse. */
export const headersRefuse = (refused: Refusal[]): void =>
  void (realm[REFUSED_KEY] ??= []).push(...refused);

/** Answer what is asked on the hook's line: an event of that name, whose default is prevented. No listener of the app can hear it. */
export function answerPolicy(line: MessagePort): void {
  for (const refusal of REFUSALS)
    line.addEventListener(refusal, (event) => {
      if (refuses(refusal)) event.preventDefault();
    });
}

/** From now on. */
export function watchPolicies(): void {
  realm.vfscopeRefuses = refuses;
  document.addEventListener('DOMContentLoaded', look, { capture: true, once: true });
}
