// The page: shows the notes, and saves one.
import { saveNote, readNotes } from './notes.js';

const show = (notes) =>
  document
    .querySelector('ul')
    .replaceChildren(
      ...notes.map((text) => Object.assign(document.createElement('li'), { textContent: text })),
    );

document.querySelector('form').onsubmit = async (event) => {
  event.preventDefault();
  await saveNote(event.target.elements.text.value);
  event.target.reset();
  show(await readNotes());
};
show(await readNotes());
document.querySelector('button').disabled = false;
