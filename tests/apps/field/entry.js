// What an app ships: vfscope/field before its first line. The page requests the report of the
// thread that runs SQLite over a channel.
import { observe } from 'vfscope/field';

const name = 'vfscope-field-test';
// a thread has it once, although the tests put it before every script
if (!globalThis[Symbol.for(name)]) {
  const channel = new BroadcastChannel(name);
  const field = observe({
    labels: { release: '1.0' },
    onReport: (report) => channel.postMessage({ report }),
    onTrace: (last, why) => channel.postMessage({ last, why }),
  });
  globalThis[Symbol.for(name)] = field;
  channel.onmessage = ({ data }) => {
    if (data === 'flush') field.flush();
    if (data === 'last') channel.postMessage({ last: field.last(), why: 'asked' });
  };
}
