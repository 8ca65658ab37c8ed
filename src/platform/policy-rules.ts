/**
 * A page's policy with what a recorded worker needs, for one tab: session rules of the browser, which end with it. Chromium alone has need
 * of them, and the API without a question.
 */
import type { Policies } from '../protocol/page-policy.ts';
import { api } from './extension-api.ts';

type Rules = typeof chrome.declarativeNetRequest;
const rules = (): Rules | undefined => api.declarativeNetRequest as Rules | undefined;

/** Characters that a rule's filter gives a meaning. */
const SPECIAL = /[*^|]/;

/** Can the policy of this address be set at all? */
export const canSetPolicy = (url: string): boolean => rules() !== undefined && !SPECIAL.test(url);

/** From its next load on this page has these policies in this tab. @param url without its fragment @param before its own */
export async function setPolicy(
  tabId: number,
  url: string,
  before: Policies,
  { enforced, reported }: Policies,
): Promise<void> {
  const responseHeaders = [
    ['content-security-policy', before.enforced, enforced] as const,
    ['content-security-policy-report-only', before.reported, reported] as const,
  ].flatMap(([header, was, value]): object[] => {
    if (!was) return [];
    return value ? [{ header, operation: 'set', value }] : [{ header, operation: 'remove' }];
  });
  await rules()!.updateSessionRules({
    removeRuleIds: [tabId],
    addRules: [
      {
        id: tabId,
        condition: {
          tabIds: [tabId],
          resourceTypes: ['main_frame'],
          urlFilter: `|${url}|`,
          isUrlFilterCaseSensitive: true,
        },
        action: { type: 'modifyHeaders', responseHeaders },
      } as unknown as chrome.declarativeNetRequest.Rule,
    ],
  });
}

/** No page of other tabs than these has policies of ours any more, from its next load on. */
export async function unsetPolicies(but: readonly number[]): Promise<void> {
  const set = (await rules()?.getSessionRules()) ?? [];
  const removeRuleIds = set.map(({ id }) => id).filter((id) => !but.includes(id));
  if (removeRuleIds.length) await rules()!.updateSessionRules({ removeRuleIds });
}
