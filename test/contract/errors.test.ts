import t from 'tap';
import { type ErrorCode, errorCatalogue, ServiceError } from '../../contract/errors.ts';
import { errorResponse } from '../../server/http/error-response.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

t.test('every error has a body with the four fields of an ApiError', async (t) => {
  for (const code of codes) {
    const failure = new ServiceError(code, 'What happened.');
    const { status, body, headers } = errorResponse(failure);
    t.equal(status, errorCatalogue[code].status, code);
    const error = JSON.parse(String(body));
    t.same(Object.keys(error).sort(), ['code', 'error', 'message', 'resolution_hint']);
    for (const value of Object.values(error)) t.ok(typeof value === 'string' && value !== '');
    t.match(error, { code, message: 'What happened.' });
    t.match(error.resolution_hint, /^[A-Z].*\.$/, 'a hint is a sentence');
    t.match(Object.fromEntries(headers), {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const names = headers.map(([name]) => name);
    t.notOk(names.includes('access-control-allow-origin'), 'the route adds it');
    t.equal(names.includes('www-authenticate'), code.startsWith('api_key_'), code);
  }
});

t.test('error is the reason phrase of the status', async (t) => {
  t.equal(new ServiceError('source_not_found', 'x').toBody().error, 'Not Found');
  t.equal(new ServiceError('overloaded', 'x').toBody().error, 'Service Unavailable');
});

t.test('retryable errors carry Retry-After', async (t) => {
  for (const code of codes) {
    const { headers } = errorResponse(new ServiceError(code, 'x'));
    const wait = new Map(headers).get('retry-after');
    if (errorCatalogue[code].status === 503 || code === 'prewarm_queue_full')
      t.match(wait, /^[1-9]\d*$/);
    else t.equal(wait, undefined, code);
  }
  const fromSource = new ServiceError('source_rate_limited', 'x', undefined, { retryAfter: 120 });
  t.equal(new Map(errorResponse(fromSource).headers).get('retry-after'), '120');
});

t.test('an error is sent between threads and processes without its cause', async (t) => {
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

t.test('unexpected errors do not disclose their messages', async (t) => {
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
  for (const one of thrown) {
    const failure = ServiceError.of(one);
    t.equal(failure.cause, one, 'kept for the log');
    const { status, body } = errorResponse(failure);
    t.equal(status, 500);
    t.match(JSON.parse(String(body)), { code: 'internal_error' });
    t.notMatch(String(body), /hunter2|internal\b(?!_error)/);
  }
});
