/**
 * Makes the traced page's text safe in other formats: it can't become markup, leave an attribute,
 * or command a terminal.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Replaces with U+FFFD what XML forbids, controls other than white space, and direction overrides.
 */
export const visible = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g,
    '\ufffd',
  );

/** Replaces every character that has a meaning in markup with an entity. */
export function escapeXml(text: string): string {
  return visible(text.replace(/[&<>"'`]/g, (c) => ENTITIES[c]!));
}
