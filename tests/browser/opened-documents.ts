/**
 * Frames created in every way without a request, including document.open() before and after the
 * load event, which removes all listeners of the frame's window. Runs in the page; shared by the
 * tests of Chromium and Firefox.
 */

declare global {
  interface Window {
    frameCases: {
      names: string[];
      /** Messages that the app's listeners received but the app didn't send. */
      heard: string[];
      /** Frames in which a hook runs. */
      hooked(): string[];
      /** Frames whose port is being handed over. */
      handing(): string[];
      /** A performance mark in each. */
      mark(prefix: string): void;
    };
  }
}

/** Creates them in the page. Resolves once they exist. */
export async function makeFrames(): Promise<void> {
  const heard: string[] = [];
  const frames = new Map<string, HTMLIFrameElement>();
  const listenIn = (name: string): void => {
    const target = frames.get(name)!.contentWindow!;
    for (const type of ['message', 'messageerror'])
      for (const capture of [true, false])
        target.addEventListener(
          type,
          (event) => heard.push(`${name}: ${JSON.stringify((event as MessageEvent).data)}`),
          capture,
        );
  };
  Object.assign(window, { listenIn });
  const append = (name: string, attributes: Record<string, string> = {}): HTMLIFrameElement => {
    const frame = document.createElement('iframe');
    frame.id = name;
    for (const [key, value] of Object.entries(attributes)) frame.setAttribute(key, value);
    frames.set(name, frame);
    document.body.append(frame);
    return frame;
  };
  /** The written document starts to listen as its first action. */
  const text = (name: string): string =>
    `<!doctype html><script>parent.listenIn(${JSON.stringify(name)})</script><p>${name}</p>`;
  const loaded = (frame: HTMLIFrameElement): Promise<unknown> =>
    new Promise((done) => frame.addEventListener('load', done, { once: true }));
  const write = (frame: HTMLIFrameElement, html: string): void => {
    const { contentDocument: document } = frame;
    document!.open();
    document!.write(html);
    document!.close();
  };

  append('blank');
  listenIn('blank');
  append('about', { src: 'about:blank' });
  const source = append('source', { srcdoc: text('source') });
  await loaded(source);
  const script = append('script', { src: `javascript:${JSON.stringify(text('script'))}` });
  await loaded(script);
  write(append('opened'), text('opened'));
  const listens = append('listens'); // as soon as the document is open, before anything is written
  listens.contentDocument!.open();
  listenIn('listens');
  listens.contentDocument!.write('<p>listens</p>');
  listens.contentDocument!.close();
  append('left-open').contentDocument!.open(); // and never closed
  listenIn('left-open');
  const foreign = append('foreign');
  const { open, write: writeTo, close } = Document.prototype; // of this realm
  Reflect.apply(open, foreign.contentDocument, []);
  Reflect.apply(writeTo, foreign.contentDocument, [text('foreign')]);
  Reflect.apply(close, foreign.contentDocument, []);
  const later = append('later', { srcdoc: '<p>first' });
  await loaded(later);
  await new Promise((done) => setTimeout(done));
  write(later, text('later'));
  const implicit = append('implicit', { srcdoc: '<p>first' });
  await loaded(implicit);
  implicit.contentDocument!.write(text('implicit')); // opens by itself
  implicit.contentDocument!.close();
  const twice = append('twice');
  write(twice, text('twice'));
  await new Promise((done) => setTimeout(done));
  write(twice, text('twice'));
  const moved = append('moved');
  write(moved, text('moved'));
  moved.remove();
  document.body.append(moved);
  listenIn('moved');
  const gone = append('gone');
  write(gone, text('gone'));
  gone.remove();
  frames.delete('gone');

  const sign = Symbol.for('vfscope.thread');
  window.frameCases = {
    names: [...frames.keys()],
    heard,
    hooked: () =>
      [...frames].filter(([, { contentWindow }]) => sign in contentWindow!).map(([name]) => name),
    handing: () =>
      [...frames]
        .filter(([, { contentDocument }]) => contentDocument!.querySelector(':root > div'))
        .map(([name]) => name),
    mark: (prefix) =>
      frames.forEach(({ contentWindow }, name) =>
        contentWindow!.performance.mark(`${prefix} ${name}`),
      ),
  };
}
