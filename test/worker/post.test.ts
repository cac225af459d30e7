import t from 'tap';
import { post } from '../../worker/webhooks.ts';
import { attacks, startHostileOrigin } from '../pool/source/hostile-origin.ts';
import { hookSecret, startReceiver } from './receiver.ts';

const request = {
  id: '1',
  body: '{}',
  secrets: [hookSecret],
  userAgent: 'test',
  guard: null,
};

t.test('ends a request with endless response headers', async (t) => {
  const receiver = await startHostileOrigin(t);
  for (const name of ['informational', 'tiny headers', 'empty lines'] as const) {
    const url = receiver.url(`/${encodeURIComponent(name)}`);
    const signal = new AbortController().signal;
    const failure = await post({ ...request, url, signal }).then(
      () => null,
      (error: Error) => error,
    );
    t.match(failure, { name: 'PostFailed', cause: { code: attacks[name]?.code } }, name);
  }
});

t.test('ends a request with an endless response body', async (t) => {
  const receiver = await startHostileOrigin(t);
  for (const name of ['one-byte chunks', 'chunk extensions'] as const) {
    const url = receiver.url(`/${encodeURIComponent(name)}`);
    const signal = new AbortController().signal;
    await post({ ...request, url, signal });
    await receiver.quiet();
  }
});

t.test('accepts a response with a longer body than it reads', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer((response) => response.end(Buffer.alloc(300_000)));
  const url = new URL(receiver.url);
  await post({ ...request, url, signal: new AbortController().signal });
  t.equal(receiver.received.length, 1);
});
