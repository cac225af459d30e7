import { STATUS_CODES } from 'node:http';
import t from 'tap';
import { type ErrorCode, errorCatalogue, ServiceError } from '../../contract/errors.ts';
import { errorResponse } from '../../server/http/responses.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

t.test('writes every error with an ApiError body and its headers', async (t) => {
  for (const code of codes) {
    const { status, body, headers } = errorResponse(new ServiceError(code, 'What happened.'));
    t.equal(status, errorCatalogue[code].status, code);
    const error = JSON.parse(String(body));
    t.same(Object.keys(error).sort(), ['code', 'error', 'message', 'resolution_hint']);
    t.match(error, { code, error: STATUS_CODES[status], message: 'What happened.' });
    t.match(error.resolution_hint, /^[A-Z].*\.$/, 'a hint is a sentence');
    const byName = new Map(headers);
    t.match(Object.fromEntries(headers), {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    t.notOk(byName.has('access-control-allow-origin'), 'the route adds it');
    t.equal(byName.has('www-authenticate'), code.startsWith('api_key_'), code);
    const retryable = status === 503 || code === 'prewarm_queue_full';
    t.match(byName.get('retry-after') ?? '', retryable ? /^[1-9]\d*$/ : /^$/, code);
  }
  const fromSource = new ServiceError('source_rate_limited', 'x', undefined, { retryAfter: 120 });
  t.equal(new Map(errorResponse(fromSource).headers).get('retry-after'), '120');
});

t.test('sends an error between threads and processes but omits its cause', async (t) => {
  const error = new ServiceError('source_too_large', 'It is too big.', new Error('of the log'));
  const data = structuredClone(error.toData());
  t.same(data, { code: 'source_too_large', message: 'It is too big.' });
  t.match(ServiceError.fromData(data).toBody(), data);
  t.notMatch(JSON.stringify(error.toBody()), /of the log/);

  const details = { retryAfter: 7, watermark: true };
  const more = new ServiceError('source_rate_limited', 'Slowly.', undefined, details).toData();
  t.same(ServiceError.fromData(structuredClone(more)).details, details);
  t.same(Object.keys(ServiceError.fromData(more).toBody()).length, 4, 'not in the body');
});

t.test('hides the messages of unexpected errors', async (t) => {
  const expected = new ServiceError('rate_limited', 'Slowly.');
  t.equal(ServiceError.of(expected), expected);
  const secret = 'mongodb://user:hunter2@db.internal';
  const thrown = [
    new Error(secret),
    new TypeError(secret, { cause: new Error(secret) }),
    Object.assign(new Error(secret), { code: 'source_not_found', status: 200 }),
    Object.assign(new Error(secret), { name: 'Failure', code: 'source_not_found' }),
    secret,
    { code: 'source_not_found', message: secret },
    null,
    undefined,
    0,
    new Proxy({}, {}),
  ];
  for (const error of thrown) {
    const failure = ServiceError.of(error);
    t.equal(failure.cause, error, 'kept for the log');
    const { status, body } = errorResponse(failure);
    t.equal(status, 500);
    t.match(JSON.parse(String(body)), { code: 'internal_error' });
    t.notMatch(String(body), /hunter2|internal\b(?!_error)/);
  }
});
