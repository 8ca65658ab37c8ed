// Parts of the page, and numbers formatted for people.
const BEGIN = '\u0002';
const END = '\u0003';

export const number = (n) => n.toLocaleString('en');

/** Bytes as KB or MB. */
export const bytes = (n) =>
  n < 1e6 ? `${Math.round(n / 1024)} KB` : `${(n / 1048576).toFixed(1)} MB`;

/** Milliseconds as ms or s. */
export const duration = (ms) =>
  ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`;

/** Milliseconds of the epoch as a date with its time. */
export const moment = (ms) =>
  new Date(ms).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });

/** A note in the list, its found words marked. */
export function listItem({ id, title, excerpt, tag, updated }, current, onOpen) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.id = String(id);
  button.setAttribute('aria-current', String(current));
  button.onclick = onOpen;
  button.append(
    span('title', title),
    span('excerpt', ...marked(excerpt.replaceAll('\n', ' '))),
    span('tag', tag),
    span('date', day(updated)),
  );
  button.querySelector('.tag').dataset.tag = tag;
  item.append(button);
  return item;
}

/** A tag in the side bar. The empty tag represents all notes. */
export function tagItem(tag, count, current, onChoose) {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.tag = tag;
  button.setAttribute('aria-current', String(current));
  button.onclick = onChoose;
  button.append(span('name', tag || 'All notes'), span('number', number(count)));
  item.append(button);
  return item;
}

function span(name, ...content) {
  const element = document.createElement('span');
  element.className = name;
  element.append(...content);
  return element;
}

/** Text with found words in <mark>. */
function marked(text) {
  return text.split(BEGIN).flatMap((part, i) => {
    if (i === 0) return [part];
    const [found, rest = ''] = part.split(END);
    const mark = document.createElement('mark');
    mark.textContent = found;
    return [mark, rest];
  });
}

const day = (ms) =>
  new Date(ms).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' });
