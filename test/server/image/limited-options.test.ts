import t from 'tap';
import { limitOptions } from '../../../server/image/limited-options.ts';
import { readTransform, withPreset } from '../../../server/image/resolve-variant.ts';
import type { ProjectLimits } from '../../../store/projects.ts';
import { project } from '../../project.ts';

const presets = { card: { w: 410, q: 33, blur: 2 } };

function limited(
  query: string,
  limits: Partial<ProjectLimits>,
  { ratio = 1, isTrusted = false } = {},
) {
  const transform = readTransform(new Map(new URLSearchParams(query)));
  const limitedProject = project({
    presets,
    limits: { rendersPerDay: null, bytesPerDay: null, ...limits },
  });
  const options = withPreset(transform.options, limitedProject);
  return limitOptions(transform, options, limitedProject, ratio, isTrusted);
}

t.test('uses the nearest listed width and quality, or refuses others', async (t) => {
  const lists = { widths: [320, 640, 1_280], qualities: [50, 75] };
  t.match(limited('w=400&h=200&q=60', lists), { w: 320, h: 160, q: 50 });
  t.match(limited('w=480&q=63', lists), { w: 320, q: 75 });
  t.match(limited('w=9000', lists), { w: 1_280 });
  t.match(limited('w=320&minw=9000', lists), { w: 320, minw: 1_280 });
  t.match(limited('w=320&dpr=2', lists, { ratio: 2 }), { w: 320 }, '640 device pixels');
  t.match(limited('w=300&dpr=2', lists, { ratio: 2 }), { w: 320 });
  t.match(limited('q=auto', lists), { q: 'auto' });
  t.match(limited('preset=card', lists), { w: 410, q: 33 }, 'a preset is free');
  t.match(limited('preset=card&q=99', lists), { w: 410, q: 75 });
  t.same(limited('h=77', lists), { h: 77 });
  t.match(limited('w=400&h=50p', lists), { w: 320, h: { share: 0.5 } });
  t.throws(() => limited('w=50p', lists), /^w must be a number: .* does not allow percentages/);

  const strict = { ...lists, unlisted: 'refuse' } as const;
  t.match(limited('w=640&h=99&q=50', strict), { w: 640, h: 99, q: 50 });
  t.match(limited('w=320&dpr=2', strict, { ratio: 2 }), { w: 320 });
  t.throws(
    () => limited('w=640&dpr=3', strict, { ratio: 3 }),
    /^w x dpr must be .* 320, 640, 1280/,
  );
  t.throws(() => limited('q=51', strict), {
    code: 'parameter_invalid',
    message: /^q must.* 50, 75/,
  });
  t.match(
    limited('w=320&dpr=auto', strict, { ratio: 1.5 }),
    { w: 320 / 1.5 },
    'what a client hints is never an error',
  );
});

t.test('allows only presets', async (t) => {
  const only = { onlyPresets: true };
  t.match(limited('preset=card', only), { w: 410, blur: 2 });
  t.match(limited('preset=card&v=2&download=a', only), { w: 410, v: '2' });
  for (const [query, message] of Object.entries({
    '': /^preset is missing/,
    'v=2': /^preset is missing/,
    'preset=card&w=410': /^w is not allowed: the project allows only preset\.$/,
    'preset=card&fmt=webp': /^fmt is/,
    'preset=card&lenient=1': /^lenient is/,
    'preset=card&layer=badge': /^layer is/,
    'preset=card&text.price=1': /^text\.price is/,
  })) {
    t.throws(() => limited(query, only), { code: 'parameter_invalid', message }, query);
  }
  t.match(limited('preset=card&text.price=1', only, { isTrusted: true }), { w: 410 });
  const listed = { ...only, widths: [320] };
  t.match(limited('preset=card&w=300', listed), { w: 320 });
  t.throws(() => limited('preset=card&q=5', listed), /^q is not allowed: .* preset, w\.$/);
});
