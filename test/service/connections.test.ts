import { startFrontEnd } from './front-end.ts';
import { eachHttpServer } from './http-servers.ts';
import { picture } from './origin.ts';
import { StrictConnection } from './raw-http.ts';

eachHttpServer(
  'keeps connections open after all kinds of responses',
  async (t, { environment }) => {
    const { url, port, origin, ...service } = await startFrontEnd(t, environment);
    origin.serve('/a.jpg', await picture(400, 300));
    const image = service.image('/a.jpg', 'w=100&fmt=png');
    const missing = service.image('/missing.jpg');
    const first = await fetch(url + image);
    const etag = first.headers.get('etag') ?? '';
    const length = String((await first.arrayBuffer()).byteLength);

    const responses = [
      ['GET', image, {}, 200, length],
      ['HEAD', image, {}, 200, length],
      // RFC 9110, 8.6: a 304 carries no length, or the length of the 200 response.
      ['GET', image, { 'if-none-match': etag }, 304, undefined],
      ['HEAD', image, { 'if-none-match': etag }, 304, undefined],
      ['GET', image, { range: 'bytes=10-19' }, 200, length],
      ['GET', missing, {}, 404, null],
      ['HEAD', missing, {}, 404, null],
      ['GET', '/img/', {}, 400, null],
      ['HEAD', '/api/health', {}, 200, null],
      ['GET', '/nothing', {}, 404, null],
      ['PUT', image, {}, 405, null],
      ['OPTIONS', image, {}, 204, undefined],
      ['GET', '/api/sdk/v1/projects', {}, 401, null],
    ] as const;
    for (const [method, target, headers, status, contentLength] of responses) {
      const name = `${method} ${target.slice(0, 40)} ${status}`;
      const connection = await StrictConnection.open(port);
      t.teardown(async () => connection.close());
      for (const time of ['once', 'again']) {
        const response = await connection.request(method, target, headers);
        t.equal(response.status, status, `${name}, ${time}`);
        const given = response.headers.get('content-length');
        if (contentLength === null) t.match(given, /^[1-9]\d*$/, `${name} has a length`);
        else t.equal(given, contentLength, `${name} has the right length`);
        t.not(response.headers.get('connection'), 'close', `${name} does not end the connection`);
      }
      const next = await connection.request('GET', image);
      t.equal(next.status, 200, `${name}, and a picture after it`);
      t.equal(next.body.byteLength, Number(length));
      t.ok(connection.clean);
    }
  },
);
