import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { CredentialChain } from '../../../pool/s3/credentials.ts';
import { listen } from '../../listen.ts';
import { until } from '../../until.ts';

/** Sets the variables of AWS's clients, and creates a chain without a profile's files. */
function createChain(environment: Readonly<Record<string, string>>): CredentialChain {
  for (const name of Object.keys(process.env))
    if (name.startsWith('AWS_')) delete process.env[name];
  const files = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
  Object.assign(process.env, files, environment);
  return new CredentialChain('eu-west-1');
}

/** Starts a service on 127.0.0.1 that issues credentials, and records its requests. */
async function startService(t: Test, respond: RequestListener) {
  const requests: { line: string; token: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const token = headers.authorization ?? headers['x-aws-ec2-metadata-token'];
    requests.push({ line: `${method} ${url}`, token: token?.toString() });
    respond(request, response);
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, requests };
}

const minute = 60_000;
const createResponse = (id: string, expiresAt: number): string =>
  JSON.stringify({
    Code: 'Success',
    AccessKeyId: id,
    SecretAccessKey: 'secret',
    Token: 'token',
    Expiration: new Date(expiresAt).toISOString(),
  });
const found = (id: string) => ({
  accessKeyId: id,
  secretAccessKey: 'secret',
  sessionToken: 'token',
});

t.test('prefers variables', async (t) => {
  const environment = {
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:1/',
  };
  const permanent = await createChain(environment).get();
  t.match(permanent, { accessKeyId: 'AKID', sessionToken: undefined });
  const session = { ...environment, AWS_SESSION_TOKEN: 'token' };
  t.match(await createChain(session).get(), found('AKID'));
});

t.test("gets container credentials with the container's token", async (t) => {
  const service = await startService(t, (_, response) =>
    response.end(createResponse('CONTAINER', Date.now() + 60 * minute)),
  );
  const file = join(t.testdir(), 'token');
  await writeFile(file, 'from the file');
  const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.url}/a` };
  const ofFile = { ...environment, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file };
  t.match(await createChain(ofFile).get(), found('CONTAINER'));
  const ofVariable = { ...environment, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Bearer a' };
  await createChain(ofVariable).get();
  t.same(service.requests, [
    { line: 'GET /a', token: 'from the file' },
    { line: 'GET /a', token: 'Bearer a' },
  ]);
});

t.test("sends a container's token over plain HTTP to local addresses only", async (t) => {
  for (const uri of [
    'http://192.0.2.1/',
    'http://example.com/',
    'ftp://127.0.0.1/',
    'http://[::2]/',
  ]) {
    const chain = createChain({ AWS_CONTAINER_CREDENTIALS_FULL_URI: uri });
    await t.rejects(chain.get(), /^no S3 credentials/, uri);
  }
});

t.test("exchanges a web identity for a role's credentials", async (t) => {
  let form = '';
  const field = (name: string, value: string) => `<${name}>${value}</${name}>`;
  const service = await startService(t, async (request, response) => {
    form = await text(request);
    const fields = [
      field('AccessKeyId', 'ROLE'),
      field('SecretAccessKey', 'secret'),
      field('SessionToken', 'token'),
      field('Expiration', new Date(Date.now() + 60 * minute).toISOString()),
    ];
    const result = field('AssumeRoleWithWebIdentityResult', field('Credentials', fields.join('')));
    response.end(field('AssumeRoleWithWebIdentityResponse', result));
  });
  const file = join(t.testdir(), 'token');
  await writeFile(file, 'identity&token');
  const environment = {
    AWS_WEB_IDENTITY_TOKEN_FILE: file,
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/images',
    AWS_ENDPOINT_URL_STS: `${service.url}/`,
  };
  t.match(await createChain(environment).get(), found('ROLE'));
  t.match(Object.fromEntries(new URLSearchParams(form)), {
    Action: 'AssumeRoleWithWebIdentity',
    RoleArn: 'arn:aws:iam::1:role/images',
    WebIdentityToken: 'identity&token',
  });
});

t.test("gets an instance's role credentials by IMDSv2", async (t) => {
  const service = await startService(t, ({ method, url, headers }, response) => {
    if (method === 'PUT') return response.end('imds');
    if (headers['x-aws-ec2-metadata-token'] !== 'imds') return response.writeHead(401).end();
    return response.end(
      url?.endsWith('/') ? 'role' : createResponse('ROLE', Date.now() + 60 * minute),
    );
  });
  const environment = { AWS_EC2_METADATA_SERVICE_ENDPOINT: service.url };
  t.match(await createChain(environment).get(), found('ROLE'));
  const path = '/latest/meta-data/iam/security-credentials/';
  t.same(
    service.requests.map(({ line }) => line),
    ['PUT /latest/api/token', `GET ${path}`, `GET ${path}role`],
  );
  const disabled = { ...environment, AWS_EC2_METADATA_DISABLED: 'true' };
  await t.rejects(createChain(disabled).get(), /no S3 credentials/);
});

t.test('requests credentials once, renews them, and pauses after a failure', async (t) => {
  let lifetimeMs = 60 * minute;
  let fails = false;
  const service = await startService(t, (_, response) => {
    if (fails) response.writeHead(500).end('secret');
    else response.end(createResponse(`${service.requests.length}`, Date.now() + lifetimeMs));
  });
  const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: service.url };
  const chain = createChain(environment);
  const id = async () => (await chain.get()).accessKeyId;
  t.same(await Promise.all([id(), id(), id()]), ['1', '1', '1']);
  t.equal(await id(), '1');
  t.equal(service.requests.length, 1);

  lifetimeMs = 4 * minute;
  service.requests.length = 0;
  const expiring = createChain(environment);
  t.match(await expiring.get(), { accessKeyId: '1' });
  t.match(await expiring.get(), { accessKeyId: '1' }, 'the old ones, while new ones are requested');
  await until('they are renewed', async () => (await expiring.get()).accessKeyId !== '1');

  fails = true;
  service.requests.length = 0;
  const failing = createChain(environment);
  await t.rejects(failing.get(), /no S3 credentials/);
  const { length } = service.requests;
  for (let i = 0; i < 3; i += 1) await t.rejects(failing.get(), /no S3 credentials/);
  t.equal(service.requests.length, length, 'a failure is remembered');
});

t.test('fails without secrets on a silent, too long or invalid response', async (t) => {
  const answers: RequestListener[] = [
    () => {},
    (_, response) => response.end('secret'.repeat(20_000)),
    (_, response) => response.end('{"SecretAccessKey":"secret"}'),
    (_, response) => response.end('secret'),
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
  ];
  for (const answer of answers) {
    const service = await startService(t, answer);
    const environment = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.url}/?secret` };
    const chain = createChain(environment);
    const error = await chain.get().then(() => null, String);
    t.match(error, /.+/);
    t.notMatch(error, /secret/);
  }
});
