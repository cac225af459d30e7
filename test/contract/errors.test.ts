import t from 'tap';
import { type ErrorCode, errorCatalogue, ServiceError } from '../../contract/errors.ts';
import { errorResponse } from '../../server/http/error-response.ts';

/** What outside clients rely on. */
const statuses: Record<ErrorCode, number> = {
  invalid_request: 400,
  api_key_missing: 401,
  api_key_invalid: 401,
  product_access_required: 402,
  project_forbidden: 403,
  write_access_required: 403,
  project_not_found: 404,
  preset_not_found: 404,
  endpoint_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  rate_limited: 429,
  prewarm_queue_full: 429,
  headers_too_large: 431,
  internal_error: 500,
  source_missing: 400,
  project_missing: 400,
  source_invalid: 400,
  parameter_invalid: 400,
  source_not_allowed: 403,
  source_blocked: 403,
  source_unauthorized: 403,
  source_forbidden: 403,
  host_not_allowed: 403,
  origin_not_allowed: 403,
  signature_invalid: 403,
  source_not_found: 404,
  source_too_large: 413,
  range_not_satisfiable: 416,
  source_unsupported: 415,
  source_corrupt: 422,
  source_rate_limited: 429,
  source_unreachable: 502,
  overloaded: 503,
  source_timeout: 504,
  transform_timeout: 504,
  store_unavailable: 503,
  workbench_unauthorized: 401,
  workbench_forbidden: 403,
};
const codes = Object.keys(statuses) as ErrorCode[];

t.test('the errorCatalogue holds these codes with these statuses, and no others', async (t) => {
  const found = Object.entries(errorCatalogue).map(([code, { status }]) => [code, status]);
  t.same(Object.fromEntries(found), statuses);
});

t.test('every failure is explained in the four fields of an ApiError', async (t) => {
  for (const code of codes) {
    const failure = new ServiceError(code, 'What happened.');
    const { status, body, headers } = errorResponse(failure);
    t.equal(status, statuses[code], code);
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
    t.notOk(names.includes('access-control-allow-origin'), 'a matter of the route');
    t.equal(names.includes('www-authenticate'), code.startsWith('api_key_'), code);
  }
});

t.test('error is text for people, as older clients show it', async (t) => {
  t.equal(new ServiceError('source_not_found', 'x').toBody().error, 'Not Found');
  t.equal(new ServiceError('overloaded', 'x').toBody().error, 'Service Unavailable');
});

t.test('who is told to wait is told how long', async (t) => {
  for (const code of codes) {
    const { headers } = errorResponse(new ServiceError(code, 'x'));
    const wait = new Map(headers).get('retry-after');
    if (statuses[code] === 503 || code === 'prewarm_queue_full') t.match(wait, /^[1-9]\d*$/);
    else t.equal(wait, undefined, code);
  }
  const said = new ServiceError('source_rate_limited', 'x', undefined, { retryAfter: 120 });
  t.equal(new Map(errorResponse(said).headers).get('retry-after'), '120');
});

t.test(
  'an error crosses threads and processes with its code and message, but not its cause',
  async (t) => {
    const error = new ServiceError('source_too_large', 'It is too big.', new Error('of the log'));
    const data = structuredClone(error.toData());
    t.same(data, { code: 'source_too_large', message: 'It is too big.' });
    t.match(ServiceError.fromData(data).toBody(), data);
    t.notMatch(JSON.stringify(error.toBody()), /of the log/);

    const details = { retryAfter: 7, watermark: true };
    const more = new ServiceError('source_rate_limited', 'Slowly.', undefined, details).toData();
    t.same(ServiceError.fromData(structuredClone(more)).details, details);
    t.same(Object.keys(ServiceError.fromData(more).toBody()).length, 4, 'not in the body');
  },
);

t.test('a failure stays the one that it is', async (t) => {
  const failure = new ServiceError('rate_limited', 'Slowly.');
  t.equal(ServiceError.of(failure), failure);
});

t.test('what nobody foresaw leaks nothing', async (t) => {
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
