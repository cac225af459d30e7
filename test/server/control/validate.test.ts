import t from 'tap';
import { faultsOf, type InputName } from '../../../server/control/validate.ts';

const url = 'https://a.example/';

t.test('every fault names the field and the rule', async (t) => {
  const cases: ReadonlyArray<readonly [InputName, body: unknown, ...faults: string[]]> = [
    ['CreateProjectInput', null, 'the body must be object'],
    ['CreateProjectInput', [], 'the body must be object'],
    ['CreateProjectInput', {}, 'name is required', 'origin is required'],
    ['CreateProjectInput', { name: '', origin: url }, 'name must NOT have fewer than 1 characters'],
    [
      'CreateProjectInput',
      { name: 'x'.repeat(81), origin: 'a b', extra: 1 },
      'extra is not a known field',
      'name must NOT have more than 80 characters',
      'origin must be a URI',
    ],
    [
      'CreateProjectInput',
      { name: 'x', origin: url, allowedOrigins: ['a.example', 7] },
      'allowedOrigins[1] must be string',
    ],
    ['ProjectSettingsInput', {}, 'the body must have at least one property'],
    ['ProjectSettingsInput', { maxWidth: 10_001 }, 'maxWidth must be <= 10000'],
    ['ProjectSettingsInput', { maxWidth: null }, 'maxWidth must be integer'],
    ['ProjectSettingsInput', { defaultQuality: 29 }, 'defaultQuality must be >= 30'],
    ['ProjectSettingsInput', { defaultQuality: 30.5 }, 'defaultQuality must be integer'],
    ['ProjectSettingsInput', { defaultQuality: '80' }, 'defaultQuality must be integer'],
    ['ProjectSettingsInput', { autoFormat: 'true' }, 'autoFormat must be boolean'],
    [
      'ProjectSettingsInput',
      { defaultFit: 'squeeze' },
      'defaultFit must be one of contain, cover, fill, inside, outside',
    ],
    ['ProjectSettingsInput', { watermarkUrl: 'x y' }, 'watermarkUrl must be empty or a URI'],
    ['ProjectSettingsInput', { watermarkUrl: 7 }, 'watermarkUrl must be string'],
    ['ProjectSettingsInput', { requireSignedUrls: true }, 'requireSignedUrls is not a known field'],
    ['PrewarmInput', {}, 'the body must have src or sources'],
    ['PrewarmInput', { sources: [] }, 'sources must NOT have fewer than 1 items'],
    ['PrewarmInput', { sources: Array(21).fill(url) }, 'sources must NOT have more than 20 items'],
    ['PrewarmInput', { sources: [url, 'b'] }, 'sources[1] must be a URI'],
    [
      'PrewarmInput',
      { src: url, widths: [0, 5_001], formats: [], dpr: 4, fit: 'outside' },
      'widths[0] must be >= 1',
      'widths[1] must be <= 5000',
      'formats must NOT have fewer than 1 items',
      'fit must be one of contain, cover, fill, inside',
      'dpr must be <= 3',
    ],
    [
      'PrewarmInput',
      { src: url, formats: ['gif'] },
      'formats[0] must be one of auto, avif, webp, jpeg, png',
    ],
    ['DomainInput', {}, 'host is required'],
    ['DomainInput', { host: null }, 'host must be string'],
    ['DomainInput', 'a.example', 'the body must be object'],
  ];
  for (const [name, body, ...faults] of cases) {
    t.same(faultsOf(name, body).sort(), faults.sort(), JSON.stringify(body)?.slice(0, 60));
  }
});

t.test('what the interface allows has no fault, up to every bound', async (t) => {
  const cases: ReadonlyArray<readonly [InputName, body: unknown]> = [
    ['CreateProjectInput', { name: 'x', origin: url }],
    ['CreateProjectInput', { name: '😀'.repeat(80), origin: url, allowedOrigins: [] }],
    ['ProjectSettingsInput', { watermarkUrl: '', maxWidth: 0 }],
    ['ProjectSettingsInput', { watermarkUrl: url, maxWidth: 10_000, defaultQuality: 30 }],
    ['ProjectSettingsInput', { defaultQuality: 100, defaultDpr: 3, watermarkMargin: 500 }],
    ['PrewarmInput', { src: url }],
    ['PrewarmInput', { src: url, sources: Array(20).fill(url), widths: Array(10).fill(5_000) }],
    ['PrewarmInput', { sources: [url], formats: ['auto', 'avif', 'webp', 'jpeg', 'png'] }],
    ['DomainInput', { host: '' }],
  ];
  for (const [name, body] of cases) {
    t.same(faultsOf(name, body), [], JSON.stringify(body).slice(0, 60));
  }
});

t.test('a body full of faults is answered with a bounded list', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, i]));
  t.equal(faultsOf('DomainInput', many).length, 20);
  const [fault = ''] = faultsOf('DomainInput', { host: 'a', ['y'.repeat(60_000)]: 1 });
  t.ok(fault.length < 200, fault.slice(0, 100));
});
