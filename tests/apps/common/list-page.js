// A list to add to, check off, and clear: the page of the apps whose SQLite is behind a library's
// own queries.

const $ = (id) => document.getElementById(id);
const fail = (error) => {
  document.body.dataset.state = 'error';
  $('error').hidden = false;
  $('error').textContent = String(error?.stack ?? error);
};

/** @param {{ add(names: string[]): unknown, check(id: unknown, done: boolean): unknown, clear(): unknown }} database */
export function listPage({ add, check, clear }) {
  const doing = (action) => Promise.resolve().then(action).catch(fail);
  $('form').onsubmit = (event) => {
    event.preventDefault();
    const name = $('name').value;
    $('form').reset();
    void doing(() => add([name]));
  };
  $('many').onclick = () =>
    doing(() => add(Array.from({ length: 50 }, (_, i) => `Number ${i + 1} of fifty`)));
  $('clear').onclick = () => doing(clear);
  return {
    fail,
    /** @param {{ id: unknown, name: string, done: boolean }[]} rows */
    show(rows) {
      $('all').textContent = String(rows.length);
      $('open').textContent = String(rows.filter(({ done }) => !done).length);
      $('list').replaceChildren(
        ...rows.map(({ id, name, done }) => {
          const box = Object.assign(document.createElement('input'), { type: 'checkbox' });
          box.checked = done;
          box.onchange = () => doing(() => check(id, box.checked));
          const label = document.createElement('label');
          label.append(box, ` ${name}`);
          const item = document.createElement('li');
          item.append(label);
          return item;
        }),
      );
      document.body.dataset.state = 'ready';
    },
  };
}
