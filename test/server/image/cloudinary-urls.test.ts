import t from 'tap';
import { cloudinary, cloudinarySignature } from '../../../urls/src/cloudinary.ts';
import { outcome } from './url-outcome.ts';

/** Returns the native query for a transformation of `/a.jpg`. */
const at = (transformation: string, source = 'a.jpg') =>
  outcome('cloudinary', `/demo/image/upload/${transformation}/${source}`).replace(
    'https://shop.example/a.jpg ',
    '',
  );

t.test("reads Cloudinary's components", async (t) => {
  for (const [transformation, expected] of [
    ['w_300', 'dpr=1&enlarge=true&fmt=jpeg&w=300'],
    ['w_300,h_200', 'dpr=1&enlarge=true&fit=fill&fmt=jpeg&h=200&w=300'],
    ['c_limit,h_200', 'dpr=1&fmt=jpeg&h=200'],
    ['c_lfill,w_200,g_auto', 'dpr=1&fmt=jpeg&w=200'],
    ['c_fill,w_300,g_west', 'dpr=1&enlarge=true&fmt=jpeg&w=300'],
    ['c_fill,w_3,h_2,g_south_east', 'dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=2&pos=southeast&w=3'],
    ['c_pad,w_3,h_2,g_north', 'dpr=1&enlarge=true&fit=contain&fmt=jpeg&h=2&pos=north&w=3'],
    ['c_pad,ar_0.5:1,h_2', 'ar=0.5&dpr=1&enlarge=true&fit=contain&fmt=jpeg&h=2'],
    ['c_scale,ar_4:3,w_3', 'ar=4%3A3&dpr=1&enlarge=true&fit=fill&fmt=jpeg&w=3'],
    ['c_scale,w_3,g_west', 'dpr=1&enlarge=true&fmt=jpeg&w=3 g'],
    ['g_west', 'dpr=1&fmt=jpeg g'],
    ['c_crop,g_north_west,w_4,h_3', 'crop=0%2C0%2C4%2C3&dpr=1&fmt=jpeg'],
    ['c_crop,w_4,h_3,y_2', 'crop=0%2C2%2C4%2C3&dpr=1&fmt=jpeg'],
    ['c_scale,w_3/dpr_2.5', 'dpr=2.5&enlarge=true&fmt=jpeg&w=3'],
    ['c_scale,w_30,dpr_4', 'dpr=1&enlarge=true&fmt=jpeg&w=120'],
    ['a_-90', 'dpr=1&fmt=jpeg&rotate=-90'],
    ['a_hflip.vflip.20', 'dpr=1&flip=true&flop=true&fmt=jpeg&rotate=20'],
    ['a_hflip/a_hflip', 'dpr=1&fmt=jpeg'],
    ['a_90/a_180', 'dpr=1&fmt=jpeg&rotate=270'],
    ['c_fill,h_2,w_3/a_vflip', 'dpr=1&enlarge=true&fit=cover&flip=true&fmt=jpeg&h=2&w=3'],
    ['b_rgb:ff000080', 'bg=ff000080&dpr=1&flatten=true&fmt=jpeg'],
    ['b_white/e_negate/o_50', 'bg=white&dpr=1&flatten=true&fmt=jpeg&negate=true&opacity=0.5'],
    ['q_auto:good,f_jxl', 'dpr=1&fmt=jxl&q=auto'],
    ['f_auto,fl_progressive.animated', 'dpr=1&fmt=auto'],
    ['fl_attachment', 'download=a&dpr=1&fmt=jpeg'],
    ['fl_attachment:my%20map', 'download=my+map&dpr=1&fmt=jpeg'],
    ['pg_2,cs_srgb', 'dpr=1&fmt=jpeg&page=1'],
    ['t_card', 'dpr=1&fmt=jpeg&preset=card'],
    ['t_other/f_png/q_50', 'dpr=1&fmt=png&preset=other&q=50'],
    ['v12', 'dpr=1&fmt=jpeg&v=12'],
    ['w_300/v1', 'dpr=1&enlarge=true&fmt=jpeg&v=1&w=300'],
    ['s--AAAAAAAA--/w_300', 'dpr=1&enlarge=true&fmt=jpeg&w=300'],
    ['s--AAAAAAAA--/w_300/v12', 'dpr=1&enlarge=true&fmt=jpeg&w=300'],
  ] as const) {
    t.equal(at(transformation), expected, transformation);
  }
  t.equal(at('w_3', 'a.jpg?_a=BAM&x=1'), 'dpr=1&enlarge=true&fmt=jpeg&w=3 x');
});

t.test('refuses options that lack an equivalent, and names them', async (t) => {
  const none = (option: string) => `${option} has no equivalent here.`;
  const misplaced = (option: string) => `${option} has no equivalent at this place of the chain.`;
  for (const [transformation, message] of [
    ['c_thumb,w_3,h_3', none('c_thumb')],
    ['c_lfill,w_3,h_2', none('c_lfill with w and h')],
    ['c___proto__,w_3', none('c___proto__')],
    ['w_0.5', none('w_0.5')],
    ['w_auto', none('w_auto')],
    ['w_10001', 'w must be a number from 1 to 10000.'],
    ['w_300,w_400', 'w is given more than once in a component.'],
    ['c_fill,w_3,h_3,g_face', none('g_face')],
    ['c_fill,w_3,h_3,g_auto:subject', none('g_auto:subject')],
    ['c_pad,w_3,h_3,g_auto', none('g_auto')],
    ['c_fill,w_3,h_3,x_5', none('x_ without c_crop')],
    ['c_fill,w_3,h_3,ar_1', 'ar has no equivalent with these sides and c_fill.'],
    ['c_fit,w_3,ar_1', 'ar has no equivalent with these sides and c_fit.'],
    ['c_pad,ar_1', 'ar has no equivalent with these sides and c_pad.'],
    ['c_fill', 'c_fill needs w or h.'],
    ['c_fill,ar_1:2:3', 'ar must be W:H or a number.'],
    ['c_crop,w_3,h_3', none('c_crop with g_center')],
    ['c_crop,w_3,x_1', 'h must be a number from 1 to 100000.'],
    ['w_3/c_crop,w_3,h_3,x_1', 'c_crop must be the first change of the geometry.'],
    ['c_fill,w_3,h_3/c_fit,w_2,h_2', 'c is given for more than one resize.'],
    ['w_3/a_90', misplaced('a_90')],
    ['w_3,a_90', misplaced('a_90')],
    ['a_90/a_hflip', misplaced('a_hflip')],
    ['c_fill,w_3,h_3,g_west/a_hflip', misplaced('a_hflip')],
    ['a_auto_right', none('a_auto_right')],
    ['dpr_2', 'dpr needs a resize before it or with it.'],
    ['w_3,dpr_auto', 'dpr must be a number from 0.1 to 10.'],
    ['e_sepia', none('e_sepia')],
    ['e_grayscale/c_pad,w_3,h_3', 'c_pad must come before effects and backgrounds.'],
    ['e_negate/b_red', 'b must come before effects and opacity.'],
    ['b_red,e_negate', 'b must come before effects and opacity.'],
    ['c_pad,w_3,h_3/e_negate', 'e_negate after c_pad needs b.'],
    ['b_auto', none('b_auto')],
    ['q_auto:eco', none('q_auto:eco')],
    ['q_0', /^q must be a whole number/],
    ['q_80/q_70', 'q is given more than once.'],
    ['f_mp4', none('f_mp4')],
    ['f_auto/f_jpg', 'f is given more than once.'],
    ['fl_lossy', none('fl_lossy')],
    ['cs_cmyk', none('cs_cmyk')],
    ['pg_0', /^pg must be a number from 1/],
    ['l_logo/fl_layer_apply', none('l_logo')],
    ['$w_10', none('$w_10')],
    ['if_w_gt_300', none('if_w_gt_300')],
    ['r_max', none('r_max')],
    ['t_card,w_300', 't_card may be chained with f, q and fl only.'],
    ['t_card/t_other', 't is given more than once.'],
    ['w_%zz', 'w_%zz is not encoded properly.'],
    ['q_1/'.repeat(31), 'The URL has more than 30 components.'],
    [`q_1${',x_1'.repeat(41)}`, 'A component must have at most 40 options.'],
  ] as const) {
    const found = at(transformation.replace(/\/$/, ''));
    if (typeof message === 'string')
      t.equal(found, `parameter_invalid: ${message}`, transformation);
    else t.match(found.replace('parameter_invalid: ', ''), message, transformation);
  }
});

t.test('reads public ids and fetched sources', async (t) => {
  const media = 'https://cdn.example/media/';
  const notFound = 'source_missing: The host has images at /image/upload and /image/fetch only.';
  for (const [path, expected] of [
    ['/image/upload/a', `${media}a dpr=1`],
    ['/image/upload/x/y.z/a.PNG', `${media}x/y.z/a.PNG dpr=1&fmt=png`],
    ['/image/upload/logo.svg', `${media}logo.svg dpr=1`],
    ['/demo/image/upload/w_9', `${media}w_9 dpr=1`],
    ['/demo/image/upload/v1', `${media}v1 dpr=1`],
    ['/demo/image/upload/v1/w_9/a', `${media}w_9/a dpr=1&v=1`],
    ['/demo/image/upload/my_pics/a', `${media}my_pics/a dpr=1`],
    ['/demo/image/upload/%C3%BC%20y/a.webp', `${media}%C3%BC%20y/a.webp dpr=1&fmt=webp`],
    ['/demo/image/fetch/https://a.example/x.jpg', 'https://a.example/x.jpg dpr=1'],
    ['/demo/image/fetch/https:/a.example/x.jpg', 'https://a.example/x.jpg dpr=1'],
    [
      '/demo/image/fetch/f_png/https%3A%2F%2Fa.example%2Fx%3Fv%3D2',
      'https://a.example/x?v=2 dpr=1&fmt=png',
    ],
    [
      '/demo/image/fetch/https://a.example/w_9/x%2520y.jpg',
      'https://a.example/w_9/x%20y.jpg dpr=1',
    ],
    ['/demo/image/fetch/https://a.example/?v=2', /^source_invalid: The \? of the source URL/],
    [
      '/demo/image/fetch/https://u:p@a.example/',
      /^source_invalid: The source URL must not contain/,
    ],
    ['/demo/image/fetch/https://%ff', /^source_invalid: The source URL in the path is not encoded/],
    ['/demo/image/fetch/a.jpg', /^source_invalid: The source must be an absolute/],
    ['/demo/image/upload/../x', "source_invalid: The path leads out of the host's base."],
    ['/demo/image/private/a', notFound],
    ['/demo/video/upload/a', notFound],
    ['/a/b/image/upload/a', notFound],
    ['/demo/image/upload/', notFound],
    [`/demo/image/upload/${'a'.repeat(6_001)}`, notFound],
  ] as const) {
    const found = outcome('cloudinary', path, media);
    if (typeof expected === 'string') t.equal(found, expected, path);
    else t.match(found, expected, path);
  }
});

t.test('refuses other meanings of a signed text', async (t) => {
  const misplaced = 'parameter_invalid: The version of a signed URL must follow the options.';
  const own = 'https://shop.example';
  for (const [path, expected] of [
    ['upload/s--AAAAAAAA--/v1/w_300/a.jpg', misplaced],
    ['upload/s--AAAAAAAA--/w_300/v1/f_auto,q_auto/a.jpg', misplaced],
    ['fetch/s--AAAAAAAA--/v1/w_300/https://a.cdn.example/a.jpg', misplaced],
    ['upload/s--AAAAAAAA--/v1/w_300', `${own}/w_300 dpr=1`],
    ['upload/s--AAAAAAAA--/v1/maps/w_300/a.jpg', `${own}/maps/w_300/a.jpg dpr=1&fmt=jpeg`],
    ['upload/v1/t_shirts/a.jpg', `${own}/t_shirts/a.jpg dpr=1&fmt=jpeg&v=1`],
    [
      'upload/w_300/https://a.cdn.example/a.jpg',
      'source_invalid: A source URL needs /image/fetch.',
    ],
    ['upload/http%3a//a.cdn.example/a.jpg', 'source_invalid: A source URL needs /image/fetch.'],
  ] as const) {
    t.equal(outcome('cloudinary', `/demo/image/${path}`), expected, path);
  }
});

t.test('finds the signature of a URL', async (t) => {
  const secret = 'b';
  const computeSignature = (path: string) => {
    const found = cloudinary.readSignature?.(path, '') ?? null;
    return found && [found.text, ...found.expected({ secret })];
  };
  // Signed by the Node SDK with this secret.
  const crop = 'c_crop,h_20,w_10/image.jpg';
  t.match(computeSignature('/demo/image/upload/s--Ai4Znfl3--/c_crop,h_20,w_10/v1234/image.jpg'), [
    'Ai4Znfl3',
    'Ai4Znfl3',
    cloudinarySignature(secret, crop, 'sha256'),
    cloudinarySignature(secret, crop, 'sha256', 32),
  ]);
  const fetched = 'https://a.example/x.png';
  const first = cloudinarySignature(secret, `w_9/${fetched}`);
  for (const scheme of ['https://', 'https:/']) {
    const path = `/image/fetch/s--${first}--/w_9/${scheme}a.example/x.png`;
    t.equal(computeSignature(path)?.[1], first, path);
  }
  t.equal(computeSignature('/demo/image/upload/w_9/a.jpg'), null);
  t.equal(computeSignature('/demo/image/upload/s----/a.jpg')?.[0], '');
});
