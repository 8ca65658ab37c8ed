/** The keys that open DevTools here, as <kbd> elements with a plus between them. */
export function devtoolsKeys(): Node[] {
  const keys = /Mac/.test(navigator.userAgent) ? ['⌥', '⌘', 'I'] : ['Ctrl', 'Shift', 'I'];
  return keys.flatMap((key, i) => {
    const element = document.createElement('kbd');
    element.textContent = key;
    return i ? [document.createTextNode('+'), element] : [element];
  });
}
