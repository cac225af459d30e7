import t from 'tap';
import { projectBody } from '../../../server/control/project-body.ts';
import { configurationBody } from '../../../server/control/resources/settings.ts';
import { project } from '../../project.ts';

const signed = project({
  requireSignedUrls: true,
  signedUrlTtlSeconds: 600,
  signingSecret: 'hush',
});

/** Response fields are part of the interface. */
const projectFields = `id orgId name origin allowedOrigins color1 color2 autoFormat defaultQuality
  defaultDpr defaultFit maxWidth requireSignedUrls signedUrlTtlSeconds stripMetadata
  watermarkEnabled watermarkUrl watermarkPosition watermarkOpacity watermarkScale watermarkMargin
  createdAt`;

t.test('returns every project field of the interface, and no secret', async (t) => {
  const body = projectBody(signed);
  t.same(Object.keys(body), projectFields.split(/\s+/));
  t.match(body, {
    id: signed._id,
    orgId: signed.orgId,
    name: signed.name,
    origin: signed.origin,
    allowedOrigins: signed.allowedOrigins,
    requireSignedUrls: true,
    signedUrlTtlSeconds: 600,
  });
  const all = JSON.stringify([body, configurationBody(signed, 'https://img.example')]);
  t.notMatch(all, /hush|revision|changedAt|_id/);
  const dates = {
    '2026-11-20T00:00:00Z': 'November 20, 2026',
    '2026-11-20T23:59:59Z': 'November 20, 2026',
    '2026-01-02T12:00:00Z': 'January 2, 2026',
  };
  for (const [date, text] of Object.entries(dates)) {
    const { createdAt } = projectBody(project({ createdAt: new Date(date) }));
    t.equal(createdAt, text, 'in UTC');
  }
});

t.test('describes delivery URLs in a configuration', async (t) => {
  const settings = { watermarkUrl: 'https://a.example/w.png', defaultQuality: 55 };
  const configuration = configurationBody(project(settings), 'https://img.example');
  const { supportedParameters, ...rest } = configuration;
  t.same(rest, {
    projectId: signed._id,
    projectName: signed.name,
    origin: signed.origin,
    allowedOrigins: signed.allowedOrigins,
    imageBaseUrl: 'https://img.example/img',
    transformUrlTemplate: `https://img.example/img/{source}?project=${signed._id}{&w,h,q,fmt,fit,dpr,blur}`,
    defaults: {
      autoFormat: true,
      defaultQuality: 55,
      stripMetadata: true,
      watermarkEnabled: false,
    },
    watermark: {
      enabled: false,
      margin: 16,
      opacity: 60,
      position: 'southeast',
      scale: 20,
      url: 'https://a.example/w.png',
    },
  });
  for (const name of ['w', 'h', 'q', 'fmt', 'fit', 'dpr', 'blur', 'overlay', 'overlay2.pos']) {
    t.ok(supportedParameters.includes(name), name);
  }
  t.notOk(supportedParameters.includes('width'), 'no aliases');
});
