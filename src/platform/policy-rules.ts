/**
 * Widens a page's policy for a recorded worker, with session rules of the browser, which end with
 * the session. Only Chromium needs them, and only Chromium has the API without a prompt.
 */
import type { Policies } from '../protocol/page-policy.ts';
import { api } from './extension-api.ts';

type Rules = typeof chrome.declarativeNetRequest;
const rules = (): Rules | undefined => api.declarativeNetRequest as Rules | undefined;

/** Characters with a special meaning in a rule's filter. */
const SPECIAL = /[*^|]/;

/** Can the policy of this address be replaced at all? */
export const canSetPolicy = (url: string): boolean => rules() !== undefined && !SPECIAL.test(url);

const HEADERS = [
  ['content-security-policy', 'enforced'],
  ['content-security-policy-report-only', 'reported'],
] as const;

function addRule(id: number, condition: object, before: Policies, after: Policies): Promise<void> {
  const responseHeaders = HEADERS.flatMap(([header, which]): object[] => {
    if (!before[which]) return [];
    return after[which]
      ? [{ header, operation: 'set', value: after[which] }]
      : [{ header, operation: 'remove' }];
  });
  const rule = {
    id,
    condition: { isUrlFilterCaseSensitive: true, ...condition },
    action: { type: 'modifyHeaders', responseHeaders },
  };
  return rules()!.updateSessionRules({
    removeRuleIds: [id],
    addRules: [rule as unknown as chrome.declarativeNetRequest.Rule],
  });
}

/**
 * From its next load on, this page has these policies in this tab.
 * @param url without its fragment
 * @param before its original policies
 */
export async function setPolicy(
  tabId: number,
  url: string,
  before: Policies,
  after: Policies,
): Promise<void> {
  const condition = { tabIds: [tabId], resourceTypes: ['main_frame'], urlFilter: `|${url}|` };
  await addRule(tabId, condition, before, after);
}

/** Rules for all tabs have ids from here downwards. Rules for single tabs count up from below. */
export const LAST_RULE = 2 ** 31 - 1;
/**
 * CSP's directives. A document may have a second policy, which the rule would also remove. A
 * document with a directive that the known policy lacks stays unchanged.
 */
const DIRECTIVES =
  'default-src,script-src,style-src,img-src,font-src,connect-src,media-src,object-src,frame-src,child-src,worker-src,manifest-src,base-uri,form-action,frame-ancestors,sandbox,upgrade-insecure-requests,report-,require-trusted-types-for,trusted-types'.split(
    ',',
  );

/**
 * Can documents be identified by these policies? The browser compares each policy of a header
 * separately.
 */
export const canSetEverywhere = ({ enforced, reported }: Policies): boolean =>
  rules() !== undefined &&
  (enforced === '') !== (reported === '') &&
  !/,/.test(enforced + reported);

/**
 * From their next load on, all documents of this origin with exactly these policies get others, in
 * every tab and frame.
 * @param before see canSetEverywhere
 */
export async function setPolicyEverywhere(
  id: number,
  origin: string,
  before: Policies,
  after: Policies,
): Promise<void> {
  const [[header, which], [other]] = before.enforced ? HEADERS : [HEADERS[1], HEADERS[0]];
  const text = before[which].trim();
  const excluded = DIRECTIVES.filter((name) => !text.toLowerCase().includes(name));
  await addRule(
    id,
    {
      resourceTypes: ['main_frame', 'sub_frame'],
      urlFilter: `|${origin}/`,
      responseHeaders: [{ header, values: [text.replace(/[*?\\]/g, '\\$&')] }],
      excludedResponseHeaders: [
        { header: other },
        { header, values: excluded.map((name) => `*${name}*`) },
      ],
    },
    before,
    after,
  );
}

/**
 * Removes our policies from the next load on, except those of the given rules. A tab's rule has the
 * tab's id.
 */
export async function unsetPolicies(but: readonly number[]): Promise<void> {
  const set = (await rules()?.getSessionRules()) ?? [];
  const removeRuleIds = set.map(({ id }) => id).filter((id) => !but.includes(id));
  if (removeRuleIds.length) await rules()!.updateSessionRules({ removeRuleIds });
}
