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
    ['c_lfill,w_3,h_2,dpr_2', 'dpr=1&enlarge=box&fit=cover&fmt=jpeg&h=4&w=6'],
    ['c_lpad,w_3,h_2,b_red', 'bg=red&dpr=1&enlarge=box&fit=contain&flatten=true&fmt=jpeg&h=2&w=3'],
    ['c_lpad,w_3,h_2,dpr_auto', 'dpr=1&enlarge=box&fit=contain&fmt=jpeg&h=2&w=3'],
    ['c_mfit,w_3000,h_3000', 'dpr=1&enlarge=true&fit=inside&fmt=jpeg&h=3000&w=3000'],
    ['c_mfit,w_300,h_3000', 'dpr=1&fmt=jpeg'],
    ['c_mpad,w_3000,h_3000', 'dpr=1&enlarge=box&fit=contain&fmt=jpeg&h=3000&w=3000'],
    ['c_fill_pad,g_auto,w_3,h_2', 'dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=2&pos=attention&w=3'],
    ['c_thumb,g_face,w_3,h_2', 'dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=2&pos=attention&w=3'],
    [
      'c_auto,g_auto:subject,w_3,h_2',
      'dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=2&pos=attention&w=3',
    ],
    [
      'c_fill,g_xy_center,w_3,h_2,x_400,y_0.3',
      'dpr=1&enlarge=true&fit=cover&fmt=jpeg&fp=0.25%2C0.3&h=2&w=3',
    ],
    ['w_0.5', 'dpr=1&enlarge=true&fmt=jpeg&w=800'],
    ['w_1.0,h_0.5', 'dpr=1&enlarge=true&fit=fill&fmt=jpeg&h=500&w=1600'],
    [
      'c_crop,x_0,y_0,w_400,h_300/w_0.5',
      'crop=0%2C0%2C400%2C300&dpr=1&enlarge=true&fmt=jpeg&w=200',
    ],
    ['c_crop,w_400,h_300', 'crop=600%2C350%2C400%2C300&dpr=1&fmt=jpeg'],
    ['c_crop,w_3,x_1', 'crop=1%2C0%2C3%2C1000&dpr=1&fmt=jpeg'],
    ['c_crop,w_0.5,h_0.5,g_south_east,x_10', 'crop=790%2C500%2C800%2C500&dpr=1&fmt=jpeg'],
    ['c_crop,w_4000,h_300,g_west', 'crop=0%2C350%2C1600%2C300&dpr=1&fmt=jpeg'],
    ['c_crop,ar_1:1,g_west', 'crop=0%2C0%2C1000%2C1000&dpr=1&fmt=jpeg'],
    ['w_auto,c_scale,dpr_auto', 'fmt=jpeg'],
    ['c_fill,ar_1:1,w_auto:100:600', 'ar=1%3A1&fit=cover&fmt=jpeg'],
    ['w_3,dpr_auto', 'dpr=auto&enlarge=true&fmt=jpeg&w=3'],
    ['dpr_auto', 'dpr=1&fmt=jpeg'],
    ['q_auto:eco', 'dpr=1&fmt=jpeg&q=60'],
    ['q_auto:best,f_auto:image', 'dpr=1&fmt=auto&q=86'],
    ['q_80:420', 'chroma=420&dpr=1&fmt=jpeg&q=80'],
    ['dn_300', 'density=300&dpr=1&fmt=jpeg'],
    ['fl_lossy.strip_profile,fl_progressive:steep', 'dpr=1&fmt=jpeg&progressive=true'],
    ['e_trim/c_fill,w_3,h_2', 'dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=2&trim=10&w=3'],
    ['e_trim:0', 'dpr=1&fmt=jpeg&trim=0.1'],
    ['e_trim:1', 'dpr=1&fmt=jpeg&trim=1.0001'],
    ['c_lpad,w_3,h_2,b_auto', 'bg=edge&dpr=1&enlarge=box&fit=contain&fmt=jpeg&h=2&w=3'],
    [
      'c_pad,w_3,h_2,b_blurred:400:15',
      'bg=blur%2C20&dpr=1&enlarge=true&fit=contain&fmt=jpeg&h=2&w=3',
    ],
    ['b_blurred', 'bg=blur%2C5&dpr=1&fmt=jpeg'],
    ['b_blurred:2000', 'bg=blur%2C100&dpr=1&fmt=jpeg'],
    ['b_auto:predominant', 'bg=edge&dpr=1&fmt=jpeg'],
    ['b_red,e_trim', 'bg=red&dpr=1&flatten=true&fmt=jpeg&trim=10'],
    ['e_blur', 'blur=1&dpr=1&fmt=jpeg'],
    ['w_3/e_blur:2000', 'blur=20&dpr=1&enlarge=true&fmt=jpeg&w=3'],
    ['e_blur:9', 'blur=0.3&dpr=1&fmt=jpeg'],
    ['w_3,e_sharpen:80', 'dpr=1&enlarge=true&fmt=jpeg&sharpen=0.8&w=3'],
    ['e_unsharp_mask:2000', 'dpr=1&fmt=jpeg&sharpen=10'],
    ['e_brightness:-20/e_saturation:50', 'brightness=0.8&dpr=1&fmt=jpeg&saturation=1.5'],
    ['e_blackwhite', 'dpr=1&fmt=jpeg&threshold=127'],
    ['e_contrast:30/e_vibrance:50', 'contrast=30&dpr=1&fmt=jpeg&saturation=1.25'],
    ['e_hue:-50/e_sepia/e_pixelate:9', 'dpr=1&fmt=jpeg&hue=-90&pixelate=9&sepia=80'],
    ['e_improve', 'dpr=1&fmt=jpeg&normalize=true'],
    ['e_vignette', 'dpr=1&fmt=jpeg&vignette=20'],
    [
      'c_fill,w_320,h_240/e_blur_region:800,x_20,y_20,w_60,h_40',
      'blurarea=217%2C83%2C250%2C167&dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=240&w=320',
    ],
    [
      'e_pixelate_region:8,x_20,y_20,w_60,h_40/e_blur_region,x_9,y_9,w_9,h_9/e_blur_region,w_0.5',
      'blurarea=9%2C9%2C9%2C9%2C0%2C0%2C800%2C1000&dpr=1&fmt=jpeg&pixelatearea=20%2C20%2C60%2C40',
    ],
    [
      'c_crop,x_100,y_80,w_800,h_600/w_400/e_blur_region,x_20,y_20,w_60,h_40',
      'blurarea=140%2C120%2C120%2C80&crop=100%2C80%2C800%2C600&dpr=1&enlarge=true&fmt=jpeg&w=400',
    ],
    [
      'w_3/l_fetch:aHR0cHM6Ly9zaG9wLmV4YW1wbGUvbG9nby5wbmc/c_scale,w_0.2,fl_relative/fl_layer_apply,g_west,x_5',
      'dpr=1&enlarge=true&fmt=jpeg&overlay=https%3A%2F%2Fshop.example%2Flogo.png&overlay.pos=west&overlay.w=20%25&overlay.x=5&w=3',
    ],
    ['w_3,r_max', 'dpr=1&enlarge=true&fmt=jpeg&radius=max&w=3'],
    ['w_3/r_9', 'dpr=1&enlarge=true&fmt=jpeg&radius=9&w=3'],
    ['r_1:2', 'dpr=1&fmt=jpeg&radius=1%2C2%2C1%2C2'],
    ['r_1:2:3', 'dpr=1&fmt=jpeg&radius=1%2C2%2C3%2C2'],
    ['w_3,bo_5px_solid_rgb:ddd', 'bg=ddd&dpr=1&enlarge=true&extend=5%2C5%2C5%2C5&fmt=jpeg&w=3'],
    ['d_no:image.png', 'dpr=1&fallback=https%3A%2F%2Fshop.example%2Fno%2Fimage.png&fmt=jpeg'],
    ['l_logo/c_scale,w_0.1/fl_layer_apply,g_west/q_5', 'dpr=1&fmt=jpeg&layer=logo&q=5 c w g'],
    ['l_a/l_brand:Logo,g_south,x_9/q_5', 'dpr=1&fmt=jpeg&layer=a%2Cbrand-logo&q=5 g x'],
    ['a_exif', 'dpr=1&fmt=jpeg'],
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
    ['w_3/a_90', 'dpr=1&enlarge=true&fmt=jpeg&h=3&rotate=90'],
    ['a_270,w_3', 'dpr=1&enlarge=true&fmt=jpeg&h=3&rotate=270'],
    ['c_fill,ar_2,w_4,a_-90', 'ar=0.5&dpr=1&enlarge=true&fit=cover&fmt=jpeg&h=4&rotate=-90'],
    [
      'c_pad,b_red,w_4,h_3/a_180',
      'bg=red&dpr=1&enlarge=true&fit=contain&flatten=true&fmt=jpeg&h=3&rotate=180&w=4',
    ],
    ['c_fill,h_2,w_3/a_vflip', 'dpr=1&enlarge=true&fit=cover&flip=true&fmt=jpeg&h=2&w=3'],
    ['b_rgb:ff000080', 'bg=ff000080&dpr=1&flatten=true&fmt=jpeg'],
    ['b_white/e_negate/o_50', 'bg=white&dpr=1&flatten=true&fmt=jpeg&negate=true&opacity=0.5'],
    ['q_auto:good,f_jxl', 'dpr=1&fmt=jxl&q=auto'],
    ['f_auto,fl_progressive:none.animated', 'dpr=1&fmt=auto&progressive=false'],
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
  const none = (option: string, nearest = '') =>
    `${option} has no equivalent here${nearest && `; the nearest is ${nearest}`}.`;
  const misplaced = (option: string) =>
    none(`${option} at this place of the chain`, `${option} at its start`);
  for (const [transformation, message] of [
    ['c___proto__,w_3', none('c___proto__')],
    ['w_auto,h_3', "w_auto can't be combined with h here."],
    ['w_iw', none('w_iw', 'w_ in pixels')],
    ['w_10001', 'w must be a number from 1 to 10000.'],
    ['w_300,w_400', 'w is given more than once in a component.'],
    ['c_pad,w_3,h_3,g_auto', none('g_auto', 'g_center')],
    ['c_fill,w_3,h_3,g_cat', none('g_cat', 'g_auto')],
    ['c_fill,w_3,h_3,x_5', none('x_ without c_crop', 'g_xy_center')],
    ['c_fill,w_3,h_3,ar_1', 'ar has no equivalent with these sides and c_fill.'],
    ['c_fit,w_3,ar_1', 'ar has no equivalent with these sides and c_fit.'],
    ['c_pad,ar_1', 'ar has no equivalent with these sides and c_pad.'],
    ['c_fill', 'c_fill needs w or h.'],
    ['c_fill,ar_1:2:3', 'ar must be W:H or a number.'],
    ['c_crop,w_3,h_3,g_auto', none('c_crop with g_auto', 'c_fill')],
    ['a_5/w_0.5', none('w_0.5 after e_trim or a')],
    ['e_trim/c_crop,w_3,h_3', 'c_crop must be the first change of the geometry.'],
    ['w_3/c_crop,w_3,h_3,x_1', 'c_crop must be the first change of the geometry.'],
    ['c_fill,w_3,h_3/c_fit,w_2,h_2', 'c is given for more than one resize.'],
    ['w_3/a_20', misplaced('a_20')],
    ['c_fill,w_3,h_3,g_west/a_90', misplaced('a_90')],
    ['a_90/a_hflip', misplaced('a_hflip')],
    ['c_fill,w_3,h_3,g_west/a_hflip', misplaced('a_hflip')],
    ['a_auto_right', none('a_auto_right')],
    ['dpr_2', 'dpr needs a resize before it or with it.'],
    ['e_sepia:101', 'e_sepia:101 must be a number from 1 to 100.'],
    ['e_tint:50:red', none('e_tint:50:red', 'tint')],
    ['e_sharpen:5000', 'e_sharpen:5000 must be a number from 1 to 2000.'],
    ['e_blur/e_blur', 'e_blur is given more than once.'],
    ['e_blur/w_3', 'c must come before bo, r, e_blur, e_pixelate and e_sharpen.'],
    ['r_9/w_3', 'c must come before bo, r, e_blur, e_pixelate and e_sharpen.'],
    ['w_3/e_trim', 'e_trim must come before resizes and a.'],
    ['e_trim:10:white', none('e_trim:10:white', 'e_trim with a tolerance')],
    ['bo_5px_dashed_red', none('bo_5px_dashed_red', 'bo_1px_solid_black')],
    ['b_blue/bo_5px_solid_red', 'bo must have the colour of b here.'],
    ['c_pad,w_3,h_3,bo_1px_solid_red', none('bo with a or a padding without b')],
    ['d_..:x', 'd_..:x must be a public id.'],
    ['e_grayscale/c_pad,w_3,h_3', 'c_pad must come before effects and backgrounds.'],
    ['e_negate/b_red', 'b must come before effects and opacity.'],
    ['b_red,e_negate', 'b must come before effects and opacity.'],
    ['c_pad,w_3,h_3/e_negate', 'e_negate after c_pad needs b.'],
    ['c_pad,w_3,h_3/e_blur_region', 'e_blur_region with this resize has no equivalent here.'],
    ['l_fetch:YQ,a_9', none('a of a layer')],
    ['b_auto:border_gradient', none('b_auto:border_gradient', 'b_auto')],
    ['b_blurred:x', none('b_blurred:x', 'b_blurred')],
    ['b_auto/bo_5px_solid_red', 'bo must have the colour of b here.'],
    ['q_0', /^q must be a whole number/],
    ['q_80/q_70', 'q is given more than once.'],
    ['f_mp4', none('f_mp4', 'f_auto')],
    ['f_auto/f_jpg', 'f is given more than once.'],
    ['cs_cmyk', none('cs_cmyk')],
    ['pg_0', /^pg must be a number from 1/],
    ['l_text:Arial_9:Hi,co_red', none('l_text', 'l_ with the name of a stored layer')],
    ['l_a/l_a', /^l must be 1 to 10 different layer names/],
    ['fl_layer_apply', none('fl_layer_apply', 'a layer before it')],
    ['$w_10', none('$w_10')],
    ['if_w_gt_300', none('if_w_gt_300', 'c_limit, which resizes only larger images')],
    ['r_1:2:3:4:5', none('r_1:2:3:4:5', 'r_20')],
    ['a_90/r_9', none('r with a')],
    [
      'u_logo,e_art,c_imagga_scale,w_3/$w_1',
      [
        none('u_logo', 'l_ with the name of a stored layer'),
        none('$w_1'),
        none('c_imagga_scale', 'c_fill with g_auto'),
        none('e_art', 'a preset'),
      ].join(' '),
    ],
    ['t_card,w_300', 't_card may be chained with d, f, fl, l and q only.'],
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

t.test("lets client hints set what Cloudinary's `auto` takes from them", async (t) => {
  const host = {
    base: 'https://shop.example/',
    isAllowedHost: () => true,
    presets: {},
    stripMetadata: true,
    maxSide: 10_000,
    maxArea: 40_000_000,
  };
  for (const [transformation, usesHints] of [
    ['w_auto', true],
    ['w_3,dpr_auto', true],
    ['dpr_auto', false],
    ['w_3', false],
  ] as const) {
    const path = `/image/upload/${transformation}/a.jpg`;
    t.match(cloudinary.translate(path, '', host), { kind: 'image', usesHints }, transformation);
  }
});

t.test('reads public ids and fetched sources', async (t) => {
  const media = 'https://cdn.example/media/';
  const notFound = 'source_missing: The host serves images at /image/upload and /image/fetch only.';
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
