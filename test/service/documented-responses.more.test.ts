import t from 'tap';
import { startFrontEnd } from './front-end.ts';
import { picture } from './origin.ts';

/** Headers from the HTTP server, and Content-Type, which the document declares with the body. */
const undeclared = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
]);

t.test('declares all response statuses, types and headers in the OpenAPI document', async (t) => {
  const key = 'sk_key-of-the-client';
  const service = await startFrontEnd(t, { SERVICE_ROOT_API_KEY: key });
  const { url, origin, project: own } = service;
  origin.serve('/a.jpg', await picture(40, 30));
  const source = `${origin.url}/a.jpg`;
  const document = await (await fetch(`${url}/openapi.json`)).text();
  const image = `/img/${encodeURIComponent(source)}?project=${own}&w=20`;
  const etag = (await fetch(url + image)).headers.get('etag') ?? '';
  const authorized = { headers: { authorization: `Bearer ${key}` } };
  const projects = '/api/sdk/v1/projects';
  const requests: readonly [path: string, target: string, init?: RequestInit][] = [
    ['/img/{source}', image],
    ['/img/{source}', image, { headers: { 'if-none-match': etag } }],
    ['/img/{source}', `${image}&download=a`],
    ['/img/{source}', `${image}&fmt=json`],
    ['/img/{source}', `${image}&fmt=lqip`],
    ['/img/', `/img/?url=${source}&project=${own}`],
    ['/img/', `/img/?project=${own}`],
    ['/img/', `/img/?url=https://other.example.com/a.jpg&project=${own}`],
    ['/img/', `/img/?url=${source}x&project=${own}`],
    ['/api/health', '/api/health'],
    ['/api/health/live', '/api/health/live'],
    ['/api/ready', '/api/ready'],
    [projects, projects],
    [projects, projects, authorized],
    [projects, `${projects}?limit=1`, authorized],
    [`${projects}/{projectId}`, `${projects}/prj_0000000000000000`, authorized],
  ];
  const { paths, components } = JSON.parse(document);
  for (const [path, target, init] of requests) {
    const { status, headers } = await fetch(url + target, init);
    const declared = paths[path].get.responses[status];
    const name = declared?.$ref?.replace('#/components/responses/', '');
    const { headers: known = {}, content = {} } = components.responses[name] ?? declared ?? {};
    const type = headers.get('content-type')?.split(';')[0];
    const types = Object.keys(content).filter((contentType) => contentType === type);
    t.same(types, type ? [type] : [], target);
    const sent = [...headers.keys()].filter((header) => !undeclared.has(header));
    const names = Object.keys(known).map((header) => header.toLowerCase());
    const missing = sent.filter((header) => !names.includes(header));
    t.same(missing, [], `${status} ${target}`);
  }
});
