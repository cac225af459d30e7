import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { AddressGuard } from '../../../pool/source/guard.ts';
import { ProjectResource } from '../../../server/control/project-resource.ts';
import type { Projects } from '../../../store/projects.ts';

t.test('the error of a watermark check depends on the cause', async (t) => {
  let failure: Error | null = null;
  let updates = 0;
  const operations = new ProjectResource({
    projects: {
      find: async () => ({ watermarkUrl: 'https://a.example/set.png' }),
      updateSettings: async () => {
        updates += 1;
        return {};
      },
    } as unknown as Projects,
    guard: new AddressGuard({
      privateSources: [],
      sourcePorts: null,
      own: { urls: [], ports: [1] },
    }),
    checkWatermark: async () => {
      if (failure !== null) throw failure;
    },
    purges: { add: async () => {} },
    purgeHooks: null,
    callbacks: null,
    onChange: () => {},
  });
  const { signal } = new AbortController();
  const update = () =>
    operations.update('prj_a', { watermarkUrl: 'https://a.example/w.png' }, signal);

  failure = new ServiceError('source_not_found', 'The source was not found.');
  const reason = 'watermarkUrl must be an image that can be fetched. The source was not found.';
  await t.rejects(update(), { code: 'invalid_request', message: reason });
  failure = new ServiceError('overloaded', 'Too many transforms are waiting.');
  await t.rejects(update(), { code: 'overloaded', message: /busy/ }, 'not an error of the client');
  failure = new ServiceError('internal_error', 'The transform ended unexpectedly.');
  await t.rejects(update(), failure);
  failure = new Error('the client disconnected');
  await t.rejects(update(), failure);
  t.equal(updates, 0);
  await operations.update('prj_a', { watermarkUrl: 'https://a.example/set.png' }, signal);
  t.equal(updates, 1, 'the current watermark is not checked');
  failure = null;
  await update();
  t.equal(updates, 2);
});
