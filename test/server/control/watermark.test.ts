import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { updateSettings } from '../../../server/control/resources/settings.ts';
import type { Projects } from '../../../store/projects.ts';
import { createGuard } from '../../pool/source/origin.ts';

t.test('chooses the error of a watermark check by its cause', async (t) => {
  let failure: Error | null = null;
  let updates = 0;
  const services = {
    projects: {
      find: async () => ({ watermarkUrl: 'https://a.example/set.png' }),
      updateSettings: async () => {
        updates += 1;
        return {};
      },
    } as unknown as Projects,
    guard: createGuard(),
    checkWatermark: async () => {
      if (failure !== null) throw failure;
    },
    onChange: () => {},
  };
  const { signal } = new AbortController();
  const update = () =>
    updateSettings(services, 'prj_a', { watermarkUrl: 'https://a.example/w.png' }, signal);

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
  await updateSettings(services, 'prj_a', { watermarkUrl: 'https://a.example/set.png' }, signal);
  t.equal(updates, 1, 'the current watermark is not checked');
  failure = null;
  await update();
  t.equal(updates, 2);
});
