import t from 'tap';
import { configurationBody, projectBody } from '../../../server/control/representation.ts';
import { projectSchema } from '../../../server/control/schemas.ts';
import { Projects } from '../../../store/projects.ts';
import { testDatabase } from '../../store/connection.ts';

t.test('a project is shown with every field of the interface and no other', async (t) => {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  const input = { orgId: 'org_1', name: 'Shop', origin: 'https://a.example/' };
  const { _id } = await projects.create({ ...input, allowedOrigins: ['a.example'] });
  const project = await projects.requireSignatures(_id, 600);
  if (project === null) throw new Error('it was just made');
  const body = projectBody(project);
  t.same(Object.keys(body).sort(), [...projectSchema.required].sort());
  t.match(body, {
    id: _id,
    orgId: 'org_1',
    name: 'Shop',
    origin: 'https://a.example/',
    allowedOrigins: ['a.example'],
    requireSignedUrls: true,
    signedUrlTtlSeconds: 600,
  });
  const all = JSON.stringify([body, configurationBody(project, 'https://img.example')]);
  t.notMatch(all, project.signingSecret ?? 'x', 'its secret stays within');
  t.notMatch(all, /revision|changedAt|_id/);

  t.test('its creation date is for people, in UTC wherever the service runs', async (t) => {
    const made = (createdAt: string) =>
      projectBody({ ...project, createdAt: new Date(createdAt) }).createdAt;
    t.equal(made('2026-11-20T00:00:00Z'), 'November 20, 2026');
    t.equal(made('2026-11-20T23:59:59Z'), 'November 20, 2026');
    t.equal(made('2026-01-02T12:00:00Z'), 'January 2, 2026');
  });

  t.test('its configuration holds what delivery URLs are made of', async (t) => {
    const configuration = configurationBody(
      { ...project, watermarkUrl: 'https://a.example/w.png', defaultQuality: 55 },
      'https://img.example',
    );
    t.match(configuration, {
      projectId: _id,
      projectName: 'Shop',
      origin: 'https://a.example/',
      imageBaseUrl: 'https://img.example/img',
      transformUrlTemplate: `https://img.example/img/{source}?project=${_id}{&w,h,q,fmt,fit,dpr,blur}`,
      defaults: { defaultQuality: 55, autoFormat: true, stripMetadata: true },
      watermark: { enabled: false, position: 'southeast', url: 'https://a.example/w.png' },
    });
    for (const name of ['w', 'h', 'q', 'fmt', 'fit', 'dpr', 'blur']) {
      t.ok(configuration.supportedParameters.includes(name), name);
    }
    t.notOk(configuration.supportedParameters.includes('width'), 'canonical names, no aliases');
  });
});
