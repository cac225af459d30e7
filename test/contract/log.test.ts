import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { scriptArguments, scriptUrl } from '../scripts.ts';

const log = scriptUrl('../../contract/log', import.meta.url).href;
const settings = scriptUrl('../../contract/settings/load', import.meta.url).href;

/** Returns the log lines of a process with these settings. */
function logged(environment: Record<string, string>, statements: string): string {
  const program = `
    const { createLogger } = await import(${JSON.stringify(log)});
    const { loadSettings } = await import(${JSON.stringify(settings)});
    const log = createLogger(loadSettings(${JSON.stringify(environment)}), 'test');
    ${statements}`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...scriptArguments, '--input-type=module', '-e', program],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stderr);
  return stdout;
}

t.test('writes a line as JSON with the kind of process before the process exits', async (t) => {
  const lines = logged(
    {},
    "log.info({ a: 1 }, 'logged'); log.debug('below the level'); process.exit(0);",
  );
  t.match(JSON.parse(lines), { level: 30, part: 'test', a: 1, msg: 'logged' });
});

t.test('writes a line of text and then its error, with no control characters', async (t) => {
  const hostile = '\\u001b[2J\\u009b2J\\u202e';
  const lines = logged(
    { SERVICE_LOG_FORMAT: 'text', SERVICE_ROOT_API_KEY: 'sk_secret-of-the-test' },
    `log.warn({ host: 'a.example', path: '/a b${hostile}', count: 2 }, 'refused ${hostile}');
     log.error({ err: new Error('broke sk_secret-of-the-test\\n${hostile}') }, 'failed');`,
  ).split('\n');
  t.match(
    lines[0],
    /^\d\d:\d\d:\d\d WARN test: refused \S+ \(host a\.example, path "\/a b.*", count 2\)$/,
  );
  t.match(lines[1], /^\d\d:\d\d:\d\d ERROR test: failed$/);
  t.equal(lines[2], '    Error: broke [secret]');
  t.match(lines[4], /^ {4}at /, 'the stack');
  t.notMatch(lines.join(''), /\p{C}/u);
});

t.test('writes a line even if a secret cuts an escape sequence in a URL', (t) => {
  const lines = logged(
    { SERVICE_WORKBENCH_USERNAME: 'admin', SERVICE_WORKBENCH_PASSWORD: 'nabcd' },
    "log.info('read https://a.example/\\nabcd');",
  );
  t.match(lines, 'read https://a.example/');
  t.notMatch(lines, 'nabcd');
  t.end();
});

t.test('redacts secret settings', async (t) => {
  const url = 'mongodb://user:p%40ss"word@db.internal/x';
  const encryptionKey = Buffer.alloc(32, 'key').toString('base64');
  const lines = logged(
    {
      SERVICE_MONGODB_URL: url,
      SERVICE_ROOT_API_KEY: 'sk_secret-of-the-test',
      SERVICE_WORKBENCH_USERNAME: 'admin',
      SERVICE_WORKBENCH_PASSWORD: 'hunter22',
      SERVICE_ORIGINS:
        'a.example=headers:Authorization=Bearer%20abc%2Cdefgh&X-On=true&User-Agent=redacted',
      SERVICE_ENCRYPTION_KEYS: `a:${encryptionKey}`,
      SERVICE_SOURCE_PROXY: 'http://user:of-the-proxy@proxy.example:3128',
    },
    `log.error({ err: new Error('cannot use ${url}'), key: ['sk_secret-of-the-test'] }, 'hunter22');
     log.info({ on: true, a: 'Bearer abc,defgh', b: 'abc,defgh', c: '${encryptionKey}' }, 'redacted');
     log.info('of-the-proxy');
     log.warn('the password is p%40ss"word of admin');`,
  );
  const secrets = ['p%40ss', 'sk_secret', 'hunter22', 'defgh', 'of-the-proxy', encryptionKey];
  for (const secret of secrets) t.notMatch(lines, secret);
  t.match(JSON.parse(lines.split('\n')[1] ?? ''), { on: true, msg: 'redacted' });
  t.match(lines, /the password is \[secret\] of admin/, 'a user name is not secret');
  const [first = '', second = ''] = lines.split('\n');
  t.ok(JSON.parse(first) && JSON.parse(second), 'both are still JSON');
});

t.test('redacts queries, credentials and keys in any field', async (t) => {
  const lines = logged(
    { SERVICE_LOG_LEVEL: 'debug' },
    `const url = 'https://u:SECRET@a.example/a.jpg?w=3&token=SECRET#SECRET';
     const encoded = encodeURIComponent(url);
     log.debug({ path: '/img/' + encoded }, 'request');
     log.debug({ path: '/img/' + encodeURIComponent(encoded) }, 'request');
     log.debug({ path: '/img/coast.jpg%3Ftoken%3DSECRET' }, 'request');
     log.info({ source: url, cause: 'no answer from ' + encoded + ', again' }, 'failed: ' + url);
     log.info({ quoted: 'https://a.example/"\\\\?token=SECRET"', more: [{ deep: url }] }, 'quoted');
     log.info({ path: '/api/sdk/v1/projects/sk_SECRETSECRETSECRET' }, 'x whsec_SECRETSECRETSECRET');
     const cause = Object.assign(new TypeError('Invalid URL'), { code: 'ERR_X', input: '/?token=SECRET' });
     log.error({ err: new Error('broke at ' + url, { cause }) }, 'failed');
     log.error({ err: cause }, 'failed');`,
  );
  t.notMatch(lines, /SECRET/);
  const [request, twice, relative, info, ...others] = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(request.path, '/img/https://a.example/a.jpg?w=…&token=…');
  t.equal(twice.path, request.path);
  t.equal(relative.path, '/img/coast.jpg');
  t.equal(info.source, 'https://a.example/a.jpg?w=…&token=…');
  t.equal(info.msg, `failed: ${info.source}`);
  t.equal(others.length, 4);
  t.match(others[2].err, {
    type: 'Error',
    message: /^broke at https:/,
    stack: /caused by.*Invalid/,
  });
  t.match(others[3].err, { type: 'TypeError', message: 'Invalid URL', code: 'ERR_X' });
});

t.test('survives a full disk and logs the number of lost lines', async (t) => {
  const file = join(t.testdir({ log: '' }), 'log');
  // Replacing the log's file simulates that the full disk has space again.
  logged(
    {},
    `const fs = (await import('node:fs')).default;
     const { writeSync } = fs;
     const full = fs.openSync('/dev/full', 'w');
     fs.writeSync = (descriptor, ...text) => writeSync(descriptor === 1 ? full : descriptor, ...text);
     for (let line = 1; line <= 1_000; line += 1) log.info({ line, text: 'x'.repeat(1_000) }, 'full');
     // These short lines fill the rest of the memory for held lines.
     for (let line = 1; line <= 1_000; line += 1) log.info('full');
     log.fatal('the last words');
     await new Promise((resolve) => setImmediate(resolve));
     const disk = fs.openSync(${JSON.stringify(file)}, 'w');
     fs.writeSync = (descriptor, ...text) => writeSync(descriptor === 1 ? disk : descriptor, ...text);
     log.info('space again');
     await new Promise((resolve) => setImmediate(resolve));`,
  );
  const lines = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(lines[0].line, 1, 'some lines are held');
  t.ok(lines.length < 100, 'but not all of them');
  const warning = lines.find(({ msg }) => msg.includes('lost'));
  t.equal(warning?.lines, 2_002 - (lines.length - 1), 'with the fatal line and the next one');
});
