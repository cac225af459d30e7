import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import t from 'tap';
import { findMachine } from '../../contract/machine.ts';
import { loadSettings } from '../../contract/settings/load.ts';
import { defaultOpsPort } from '../../contract/settings/table.ts';
import { heifProgram } from '../../pool/formats/heif/program.ts';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';
import { until } from '../until.ts';
import { rootKey } from './control/control.ts';
import { held } from './held-reply.ts';
import { picture, startTestOrigin } from './origin.ts';
import {
  freePort,
  isAlive,
  json,
  launch,
  plainNode,
  startProgram,
  startService,
} from './service.ts';

interface Teardown {
  teardown(action: () => Promise<unknown>): void;
}

t.test('stops at the start with a clear error if a port or a data folder is in use', async (t) => {
  // Prometheus and a second service use the same default port.
  const holder = createServer();
  await new Promise((done) => {
    holder.once('error', done).listen(defaultOpsPort, '127.0.0.1', () => done(null));
  });
  t.teardown(() => holder.close());
  const first = await startService(t, { environment: { SERVICE_OPS_PORT: '' } });
  const warning = first.log.find(({ msg }) => msg.startsWith('metrics not served'));
  t.match(warning, { port: defaultOpsPort }, 'only a configured port must be free');
  const starting = first.log.find(({ msg }) => msg === 'service starting');
  const { processes, poolThreads } = loadSettings(first.environment);
  const heicDecoder = heifProgram ?? 'WebAssembly';
  t.match(starting, { ...findMachine(), processes, poolThreads, heicDecoder }, 'the choice');
  const second = await launch(t, { port: first.port });
  t.equal(await second.end('SIGCONT'), 1);
  t.match(second.stderr(), new RegExp(`SERVICE_PORT ${first.port} .*EADDRINUSE`));
  // Services can share a data folder unless they use the embedded store.
  if (process.env['SERVICE_MONGODB_URL']) return;
  const third = await launch(t, { dataDir: first.dataDir });
  t.equal(await third.end('SIGCONT'), 1);
  t.match(third.stderr(), new RegExp(`belongs to process ${first.process.pid}`));
});

t.test('does not start if the configured port for metrics is used', async (t) => {
  const port = await freePort(2);
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(port + 1, '127.0.0.1', done));
  t.teardown(() => holder.close());
  const folder = await temporaryFolder(t);
  const environment = {
    SERVICE_HOST: '127.0.0.1',
    SERVICE_DATA_DIR: folder,
    SERVICE_OPS_PORT: String(port + 1),
  };
  const program = startProgram(t, 'server/main.js', folder, environment, ['--port', String(port)]);
  t.equal(await program.end('SIGCONT'), 1);
  t.match(program.stderr(), `SERVICE_OPS_PORT ${port + 1} `);
});

/** Returns the built service after `npm ci --omit=dev`, minus sources and tools. */
async function productionTree(t: Teardown): Promise<string> {
  const folder = await temporaryFolder(t);
  const lock = JSON.parse(await readFile(join(rootPath, 'package-lock.json'), 'utf8'));
  const packages: [string, { dev?: boolean; link?: boolean }][] = Object.entries(lock.packages);
  for (const [path, { dev, link }] of packages) {
    if (!/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) || dev === true || link === true) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(join(rootPath, path), join(folder, path));
  }
  for (const name of ['package.json', 'scripts/build.js', 'dist']) {
    await cp(join(rootPath, name), join(folder, name), { recursive: true });
  }
  return folder;
}

t.test('creates and shows a first key once in a production installation', async (t) => {
  const folder = await productionTree(t);
  const [program, ...args] = plainNode;
  const built = spawnSync(program, [...args, join(folder, 'scripts/build.js')], {
    encoding: 'utf8',
  });
  t.equal(built.status, 0, `nothing is compiled: ${built.stderr}`);
  const service = await startService(t, { dist: join(folder, 'dist') });
  const [key] = /sk_[\w-]{43}/.exec(service.stdout()) ?? [];
  t.ok(key);
  t.notOk(
    service.log.some((line) => JSON.stringify(line).includes(String(key))),
    'not in the log',
  );
  t.equal(await service.end('SIGTERM'), 0);
  const { dataDir, environment } = service;
  const again = await startService(t, { dataDir, environment, port: service.port });
  t.notMatch(again.stdout(), /sk_/);
});

t.test(
  'reports the cause of an unusable data folder, address, or folder of sources or fonts',
  async (t) => {
    const folder = await temporaryFolder(t);
    const file = join(folder, 'file');
    await writeFile(file, '');
    // This path accepts no folder.
    const inProc = [
      { SERVICE_DATA_DIR: '/proc/none/data' },
      'its path does not exist (ENOENT at /proc/none)',
    ] as const;
    for (const [environment, expected] of [
      [
        { SERVICE_DATA_DIR: join(file, 'x') },
        `The data folder ${file}/x (SERVICE_DATA_DIR) cannot be used: a part of its path is a file (ENOTDIR)`,
      ],
      ...(process.platform === 'linux' ? [inProc] : []),
      [
        { SERVICE_ORIGINS: `a.example=file://${folder}/none` },
        `SERVICE_ORIGINS: the folder ${folder}/none of a.example cannot be read (ENOENT)`,
      ],
      [
        { SERVICE_ORIGINS: `a.example=file://${file}` },
        `SERVICE_ORIGINS: the folder ${file} of a.example cannot be read (ENOTDIR)`,
      ],
      [
        { SERVICE_FONTS: join(folder, 'none') },
        `SERVICE_FONTS: the folder ${folder}/none cannot be read (ENOENT)`,
      ],
      [
        { SERVICE_HOST: '192.0.2.1' },
        'on 192.0.2.1 (SERVICE_HOST) cannot be used: it is not an address of this machine (EADDRNOTAVAIL)',
      ],
    ] as const) {
      const service = await launch(t, { environment, dataDir: folder });
      t.equal(await service.end('SIGCONT'), 1);
      t.ok(service.stderr().includes(expected), service.stderr());
      t.equal(service.stderr().trim().split('\n').length, 1);
    }
  },
);

/** Runs a program with options in a folder. */
function run(
  path: string,
  args: readonly string[],
  cwd: string,
  environment: Record<string, string> = {},
) {
  const [program, ...nodeArgs] = plainNode;
  const entry = join(rootPath, 'dist', path);
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return spawnSync(program, [...nodeArgs, entry, ...args], { cwd, env, encoding: 'utf8' });
}

/** Runs `npm start`. */
const start = (args: readonly string[], cwd: string, environment = {}) =>
  run('server/start.js', args, cwd, environment);

t.test('reports all invalid settings at once in every program', async (t) => {
  const folder = await temporaryFolder(t);
  const environment = { SERVICE_PROCESSES: 'many', SERVICE_POTR: '1' };
  for (const [path, args] of [
    ['server/start.js', []],
    ['server/main.js', []],
    ['worker/main.js', []],
    ['server/local/main.js', [folder]],
  ] as const) {
    const { status, stderr } = run(path, args, folder, environment);
    t.equal(status, 1, path);
    const errors = / {2}SERVICE_POTR is not a setting .*\n {2}SERVICE_PROCESSES must be .*\n$/;
    t.match(stderr, errors, path);
    t.equal(stderr.trim().split('\n').length, 3, stderr);
  }
});

t.test('checks options like settings, and prefers them', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(
    join(folder, '.env'),
    'SERVICE_PORT=1\nSERVICE_PROCESSES=none\nSERVICE_WORKER_PORT=2',
  );
  // The options replace invalid settings and valid ones.
  const args = ['--port', '3001', '--processes=1', '--worker-host', '::', '--worker-port=x'];
  const replaced = start(args, folder, { SERVICE_PORT: '7', SERVICE_PROCESSES: 'many' });
  t.match(replaced, { status: 1, stderr: /:\n {2}--worker-port must be .*\n$/ });

  const invalid = start(['--port=x', '--log-level', 'loud', '--processes', '0'], folder);
  t.equal(invalid.status, 1);
  t.match(invalid.stderr, /--log-level must be trace.*\n.*--port must be.*\n.*--processes must be/);
  t.match(
    start(['--prot', '1'], folder).stderr,
    /unknown option '--prot'\n\(Did you mean --port\?\)/,
  );
  t.not(start(['--root-api-key', 'sk_12345678'], folder).status, 0, 'secrets have no options');

  const help = start(['--help'], folder);
  t.equal(help.status, 0);
  for (const expected of [
    '--port <number>',
    'SERVICE_DATA_DIR; default: ./data',
    'SERVICE_MONGODB_URL',
  ]) {
    t.ok(help.stdout.includes(expected), expected);
  }
});

/** `script` of util-linux runs a command on a new terminal. */
const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
);

/** Runs a program on a terminal with a new data folder. Sends SIGKILL at the end of the test. */
async function onTerminal(
  t: Teardown,
  path: string,
  args: readonly string[],
  environment: Record<string, string> = {},
) {
  const dataDir = await temporaryFolder(t);
  const command = [...plainNode, join(rootPath, 'dist', path), ...args].join(' ');
  const terminal = spawn('script', ['-qefc', `echo $$ >pid; exec ${command}`, '/dev/null'], {
    cwd: dataDir,
    env: {
      PATH: process.env['PATH'],
      SERVICE_DATA_DIR: dataDir,
      SERVICE_OPS_PORT: '0',
      NO_COLOR: '1',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  terminal.stdout.on('data', (text) => {
    output += text;
  });
  const ended = once(terminal, 'exit');
  const pid = async () => Number(await readFile(join(dataDir, 'pid'), 'utf8'));
  t.teardown(async () => {
    // The process can have ended already.
    await pid()
      .then((pid) => process.kill(pid, 'SIGKILL'))
      .catch(() => {});
    await ended;
  });
  return { dataDir, terminal, ended, pid, output: () => output };
}

/** Hides uWebSockets.js, as if its binary were missing. */
const withoutBinary = { UWS_USE_FALLBACK: '1' };

t.test(
  'prints four lines, and warnings as text, on a terminal',
  { skip: !hasScript && "there is no util-linux' script" },
  async (t) => {
    const port = await freePort();
    const { ended, pid, output } = await onTerminal(t, 'server/main.js', ['--port', String(port)], {
      SERVICE_NAME: 'x',
      ...withoutBinary,
    });
    await until('the lines', () => output().split('\r\nNext ')[1]?.endsWith('\n'));
    const lines = output().trim().split('\r\n');
    t.match(lines, [
      /^\d\d:\d\d:\d\d WARN primary: ignoring variables that are not settings .*SERVICE_NAME/,
      new RegExp(`^Ready +http://localhost:${port}/ `),
      /^API key +sk_[\w-]{43} /,
      /^HTTP +Node's own server, .*: uWebSockets\.js has no native binary for Node \d+/,
      /^Next +open the address/,
    ]);
    t.equal(lines.length, 5, output());
    process.kill(await pid(), 'SIGINT');
    t.same(await ended, [0, null], 'as by Ctrl-C');
  },
);

t.test(
  'shuts down when its terminal closes',
  { skip: !hasScript && "there is no util-linux' script" },
  async (t) => {
    const origin = await startTestOrigin(t);
    const source = held(await picture(30, 20));
    origin.serve('/slow.jpg', source.reply);
    const [port, workerPort] = [await freePort(), await freePort()];
    const args = ['--port', String(port), '--worker-port', String(workerPort)];
    // The log continues after the terminal has closed.
    const { terminal, ended, pid, output } = await onTerminal(t, 'server/start.js', args, {
      SERVICE_LOG_LEVEL: 'info',
      SERVICE_ROOT_API_KEY: rootKey,
      SERVICE_PRIVATE_SOURCES: '127.0.0.1/32:*',
      SERVICE_PROCESSES: '1',
    });
    await until('the service and its worker', () =>
      ['Next  ', 'worker ready', 'store limits: '].every((words) => output().includes(words)),
    );
    const url = `http://127.0.0.1:${port}`;
    const created = await fetch(`${url}/api/sdk/v1/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Mine', origin: origin.url }),
    });
    const { id } = (await json(created)).project;
    const image = fetch(`${url}/img/${origin.url}/slow.jpg?project=${id}`);
    await until('the fetch', () => source.waiting === 1);
    const starter = await pid();
    terminal.kill('SIGKILL');
    await ended;
    await until('the listener is closed', () =>
      fetch(`${url}/api/health`, { headers: { connection: 'close' } }).then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    source.release();
    t.equal((await image).status, 200, 'the request in progress is completed');
    await until('all have ended', async () => {
      const isFree = (at: string) =>
        fetch(at).then(
          () => false,
          () => true,
        );
      return (
        !isAlive(starter) && (await isFree(url)) && (await isFree(`http://127.0.0.1:${workerPort}`))
      );
    });
  },
);

t.test("falls back to Node's HTTP server when uWebSockets.js does not load", async (t) => {
  const environment = { ...withoutBinary, SERVICE_CONSOLE: 'off' };
  const service = await startService(t, { environment });
  const { engine, release, because } = await service.waitForLog((line) => 'engine' in line);
  t.same([engine, release], ['node', undefined]);
  t.match(because, /^uWebSockets\.js has no native binary for Node \d+/);
  const warnings = service.log.filter(({ level, msg }) => level === 40 && /uWebSockets/.test(msg));
  t.match(warnings, [{ because, node: process.version, msg: /http-engines\.md/ }]);
  t.equal((await fetch(`${service.url}/api/health`)).status, 200);
  for (const path of ['/', '/docs']) {
    const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
    t.equal(response.status, 404, 'the console is off');
    t.match(await response.json(), { code: 'endpoint_not_found' });
  }
});

t.test('does not start if the server in SERVICE_HTTP_ENGINE does not load', async (t) => {
  const environment = { ...withoutBinary, SERVICE_HTTP_ENGINE: 'uws' };
  const service = await launch(t, { environment });
  t.equal(await service.end('SIGCONT'), 1);
  t.match(service.stderr(), /could not start: uWebSockets\.js has no native binary for Node \d+/);
  t.notOk(service.log.some(({ msg }) => msg === 'service ready'));
});
