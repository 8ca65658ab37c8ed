/** Text of the traced page in HTML and SVG: it can neither become markup nor leave an attribute. */

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

/** Every character that means something in markup as an entity; characters that XML forbids, controls and overrides of direction as U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .replace(/[&<>"'`]/g, (c) => ENTITIES[c]!)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd');
}
