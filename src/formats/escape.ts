/** Text of the traced page in foreign formats: it can neither become markup, nor leave an attribute, nor command a terminal. */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Characters that XML forbids, controls other than white space, and overrides of direction as U+FFFD. */
export const visible = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g,
    '\ufffd',
  );

/** Every character that means something in markup as an entity. */
export function escapeXml(text: string): string {
  return visible(text.replace(/[&<>"'`]/g, (c) => ENTITIES[c]!));
}
