import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import t from 'tap';
import { installed } from '../../bench/servers/launch.ts';
import { startService } from './service.ts';

const skip = !installed('python3') && 'python3 is not installed';

/**
 * A TLS server that sends tickets after the handshake, and then a response. Node itself sends two
 * tickets.
 */
const server = `
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
context.num_tickets = int(sys.argv[2])
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
while True:
  connection, _ = listener.accept()
  try:
    with context.wrap_socket(connection, server_side=True) as secure:
      secure.recv(4096)
      secure.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 7\\r\\n\\r\\npicture')
      secure.recv(4096)
  except OSError:
    pass
`;

t.test('ends a connection with too many TLS tickets', { skip }, async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  const file = join(t.testdir(), 'key.pem');
  await writeFile(file, `${key}\n${cert}`);
  const service = await startService(t, { environment: { NODE_EXTRA_CA_CERTS: file } });
  const project = await service.project();
  const expected = { 2: '415', 20000: '(TOO_MANY_PIECES)' };
  for (const [tickets, outcome] of Object.entries(expected)) {
    const child = spawn('python3', ['-c', server, file, tickets]);
    t.teardown(() => child.kill());
    const [port] = await once(child.stdout, 'data');
    const response = await fetch(
      `${service.url}/img/https://127.0.0.1:${Number(port)}/a?project=${project}`,
    );
    t.match(`${response.status} ${await response.text()}`, outcome, tickets);
  }
});
