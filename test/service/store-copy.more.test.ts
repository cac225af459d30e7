import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../store/open.ts';
import { testDatabase } from '../store/connection.ts';
import { shortFolder } from '../store/embedded/stores.ts';
import { until } from '../until.ts';
import { freePort, startProgram } from './service.ts';

const projectCount = 3_000;

t.test(
  'loses nothing although kills interrupt the store copy again and again, in both directions',
  async (t) => {
    const [first, last] = [shortFolder(t), shortFolder(t)];
    const { url, databaseName, db: middle } = await testDatabase(t);
    const named = new URL(url);
    named.pathname = `/${databaseName}`;
    const source = await openStore({ mongodbUrl: null, dataDir: first }, () => {});
    await source.established();
    const { _id: orgId } = await source.organisations.default();
    const fields = { orgId, origin: 'https://e.test/', allowedOrigins: ['e.test'] };
    for (let at = 0; at < projectCount; at += 100) {
      const names = Array.from({ length: 100 }, (_, n) => `Project ${at + n}`);
      await Promise.all(names.map((name) => source.projects.create({ ...fields, name })));
    }
    await source.close();

    const copy = (dataDir: string, ...options: string[]) => {
      const environment = { SERVICE_DATA_DIR: dataDir, SERVICE_MONGODB_URL: named.href };
      return startProgram(t, 'server/admin/main.js', dataDir, environment, [
        'store',
        'copy',
        ...options,
      ]);
    };
    const isMarked = async () => (await middle.collection('copies').countDocuments()) > 0;
    for (const projects of [0, 1, 1_000, 2_000, projectCount]) {
      const program = copy(first, '--from', 'embedded');
      await until(`${projects} projects`, async () => {
        const count = await middle.collection('projects').countDocuments();
        return (await isMarked()) && count >= projects;
      });
      const end = await program.end('SIGKILL');
      if (projects < projectCount) t.equal(end, 'SIGKILL');
      if (end === 'SIGKILL') t.equal(await middle.collection('deployments').countDocuments(), 0);
      if (end === 0) break;
    }
    if (await isMarked()) {
      const environment = {
        SERVICE_MONGODB_URL: named.href,
        SERVICE_PORT: String(await freePort()),
      };
      const service = startProgram(t, 'server/main.js', last, environment);
      t.equal(await service.end(null), 1);
      t.match(service.stderr(), 'it contains an incomplete copy of another store');
    }
    const done = async (program: ReturnType<typeof copy>) => {
      t.equal(await program.end(null), 0, program.stderr());
      return /^projects +3000 +([0-9a-f]{16})$/m.exec(program.stdout())?.[1];
    };
    const digest = (await isMarked()) ? await done(copy(first, '--from', 'embedded')) : undefined;
    t.notOk(await isMarked());

    const back = copy(last, '--to', 'embedded');
    await until('its store', () => existsSync(join(last, 'store', 'documents.log')));
    await back.end('SIGKILL');
    const again = await done(copy(last, '--to', 'embedded'));
    if (digest !== undefined) t.equal(again, digest, 'the same documents after both ways');
    const target = await openStore({ mongodbUrl: null, dataDir: last }, () => {});
    t.equal((await target.projects.list()).length, projectCount);
    await target.close();
  },
);
