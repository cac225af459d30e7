import t from 'tap';
import { imgix, imgixSignature } from '../../../urls/src/imgix.ts';
import { outcome } from './url-outcome.ts';

const shop = 'https://shop.example/a.jpg';
const base = `${shop} dpr=1`;
const scaled = `${base}&enlarge=true`;

t.test('reads the URLs of imgix', async (t) => {
  for (const [query, expected] of [
    ['', base],
    ['w=300', `${scaled}&w=300`],
    ['width=300&height=200&f=crop', `${scaled}&fit=cover&h=200&w=300`],
    ['w64=MzAw', `${scaled}&w=300`],
    ['h=200&fit=crop&crop=top', `${scaled}&h=200`],
    ['w=300&fit=max', `${base}&w=300`],
    ['fit=crop', base],
    ['w=300&h=200&fit=crop&crop=bottom,right', `${scaled}&fit=cover&h=200&pos=southeast&w=300`],
    ['w=300&h=200&fit=crop&crop=center', `${scaled}&fit=cover&h=200&w=300`],
    ['w=0.5', `${shop} dpr=1&enlarge=true&w=800`],
    ['w=0.5&dpr=2', `${shop} dpr=2&enlarge=true&w=800`],
    ['h=0.5&dpr=5', `${shop} dpr=1&enlarge=true&h=2500`],
    ['rect=0.25,center,0.5,0.5', `${shop} crop=400%2C250%2C800%2C500&dpr=1`],
    ['rect=right,bottom,400,300', `${shop} crop=1200%2C700%2C400%2C300&dpr=1`],
    [
      'w=9&exp=10&vib=10&con=-5&sepia=9&px=3',
      `${shop} brightness=1.1&contrast=-5&dpr=1&enlarge=true&pixelate=3&saturation=1.05&sepia=9&w=9`,
    ],
    ['w=9&blur=50&sharp=20&usm=20&usmrad=2', `${shop} blur=5&dpr=1&enlarge=true&sharpen=2&w=9`],
    [
      'w=9&or=6&auto=enhance&mono=f00',
      `${shop} dpr=1&enlarge=true&normalize=true&rotate=90&tint=f00&w=9`,
    ],
    [
      'w=300&h=200&fit=crop&pad=10&pad-top=20',
      `${scaled}&extend=20%2C10%2C10%2C10&fit=cover&h=170&w=280`,
    ],
    [
      'w=9&border=5,80ff0000&border-radius=9',
      `${shop} dpr=1&enlarge=true&outline=5%2Cff000080&radius=9&w=9`,
    ],
    ['w=9&rot=180&duotone-alpha=100', `${shop} dpr=1&enlarge=true&rotate=180&w=9`],
    ['w=9&duotone=000080,FA8072', `${shop} dpr=1&duotone=000080%2CFA8072&enlarge=true&w=9`],
    [
      'w=9&mark=%2Flogo.png&mark-align=top,left&mark-w=0.2&mark-alpha=50&mark-x=3',
      `${shop} dpr=1&enlarge=true&overlay=https%3A%2F%2Fshop.example%2Flogo.png&overlay.opacity=50&overlay.pos=northwest&overlay.w=20%25&overlay.x=3&overlay.y=10&w=9`,
    ],
    ['w=30&h=20&mask=corners', `${scaled}&fit=inside&h=20&radius=4&w=30`],
    [
      'w=9&mask=ellipse&mask-bg=fff',
      `${shop} bg=fff&dpr=1&enlarge=true&flatten=true&radius=max&w=9`,
    ],
    [
      'w=300&h=200&fit=crop&crop=focalpoint&fp-z=20',
      `${scaled}&fit=cover&fp=0.5%2C0.5&h=200&w=300&zoom=10`,
    ],
    ['w=300&h=200&fit=crop&crop=focalpoint', `${scaled}&fit=cover&fp=0.5%2C0.5&h=200&w=300`],
    ['w=300&h=200&crop=top&fp-x=1', `${scaled}&fit=inside&h=200&w=300 crop fp-x`],
    ['ar=0.85:1&fit=crop', `${base.replace('dpr', 'ar=0.85&dpr')}&fit=cover`],
    ['ar=3:1&w=300', `${scaled}&w=300 ar`],
    ['ar=4:3&w=300&fit=fill', `${scaled.replace('dpr', 'ar=4%3A3&dpr')}&fit=contain&w=300`],
    ['w=300&dpr=2.625', `${scaled.replace('=1&', '=2.625&')}&w=300`],
    ['w=300&dpr=0.5', `${scaled}&w=150`],
    ['w=301&dpr=4', `${scaled}&w=1204`],
    ['dpr=2', base],
    ['w=300&h=300&fit=fill', `${scaled}&fit=contain&h=300&w=300`],
    ['w=300&h=300&fit=fill&fill-color=f00', `${scaled}&fit=contain&h=300&w=300 fill-color`],
    [
      'w=300&h=300&fit=fill&fill=solid&fillcolor=80ff0000',
      'https://shop.example/a.jpg bg=ff000080&dpr=1&enlarge=true&fit=contain&h=300&w=300',
    ],
    [
      'w=300&h=200&fit=fill&fill=blur',
      'https://shop.example/a.jpg bg=blur&dpr=1&enlarge=true&fit=contain&h=200&w=300',
    ],
    ['w=300&fit=fill&fill=blur', 'https://shop.example/a.jpg dpr=1&enlarge=true&w=300'],
    ['bg=Tomato', 'https://shop.example/a.jpg bg=Tomato&dpr=1&flatten=true'],
    ['bg=ff00ff00', 'https://shop.example/a.jpg bg=00ff00ff&dpr=1&flatten=true'],
    ['rect=left,top,400,300', 'https://shop.example/a.jpg crop=0%2C0%2C400%2C300&dpr=1'],
    ['flip=hv', `${base}&flip=true&flop=true`],
    ['auto=format&auto=compress&q=80', `${base}&fmt=auto&q=80`],
    ['fm=pjpg&q=0', `${base}&fmt=jpeg&progressive=true&q=1`],
    ['fm=jpg&lossless=1&jpeg-progressive=true', `${base}&fmt=jpeg&progressive=true lossless`],
    ['inv=true&cs=origin&chromasub=420', `${shop} chroma=420&dpr=1&icc=keep&negate=true`],
    ['frame=3', `${base}&page=2`],
    ['dl64=w5xiZXIucG5n', 'https://shop.example/a.jpg download=%C3%9Cber&dpr=1'],
    ['expires=1795167692', `${base}&exp=1795167692`],
    ['ixlib=js-3.8.0&ixid=x&s=0', base],
    ['blur=0&sat=0&rot=0&sharp=0', base],
    ['w=3&h=3&fit=crop&crop=faces,top', `${scaled}&fit=cover&h=3&pos=attention&w=3`],
    ['w=3&h=3&fit=crop&crop=edges', `${scaled}&fit=cover&h=3&pos=entropy&w=3`],
    ['fm=png8&cs=strip&dpi=72&chromasub=422', `${shop} density=72&dpr=1&fmt=png`],
    ['fm=jpg&auto=format', `${base}&fmt=auto`],
    ['fm=jpg&auto=compress', `${base}&fmt=jpeg&q=45`],
    ['auto=compress', `${base}&q=45`],
    ['sat=50&bri=-20', `https://shop.example/a.jpg brightness=0.8&dpr=1&saturation=1.5`],
    ['hue=90&trim=auto', `${base}&hue=90&trim=10`],
    ['version=3&utm_source=x', `${base} version`],
  ] as const) {
    t.equal(outcome('imgix', `/a.jpg?${query}`), expected, query);
  }
});

t.test('refuses options that lack an equivalent, and names them', async (t) => {
  for (const [query, message] of [
    ['w=0', 'w must be a number from 2 to 8192.'],
    ['w=300.5', 'w must be a whole number.'],
    ['w=1', 'w must be a number from 2 to 8192.'],
    ['w=', 'w must be a number from 2 to 8192.'],
    ['w=8193', 'w must be a number from 2 to 8192.'],
    ['w=4000&dpr=3', 'w with dpr must be at most 8192.'],
    ['w=300&dpr=6', 'dpr must be a number from 0.1 to 5.'],
    ['w=3&w=4', 'w is given more than once.'],
    ['w=3&width=4', 'w is given more than once.'],
    ['s=3&s=4', 's is given more than once.'],
    ['w64=%21', 'w64 must be at most 2000 characters of base64url.'],
    [`dl64=${'A'.repeat(2_001)}`, 'dl64 must be at most 2000 characters of base64url.'],
    [
      'fit=facearea',
      'fit=facearea has no equivalent here; the nearest is fit=crop with crop=faces.',
    ],
    ['fit=fillmax&w=9', 'fit=fillmax needs w and h here.'],
    ['fit=__proto__', 'fit=__proto__ has no equivalent here.'],
    ['w=3&h=3&fit=crop&crop=top,bottom', 'crop=top,bottom has no equivalent here.'],
    ['w=3&h=3&fit=crop&crop=focalpoint&fp-z=0.5', 'fp-z must be a number from 1 to 100.'],
    ['w=3&h=3&fit=crop&crop=left&flip=h', 'flip with crop has no equivalent here.'],
    ['w=3&h=3&fit=crop&ar=1:1', 'ar with w and h has no equivalent here.'],
    ['fit=fill&ar=1:1', 'ar with fit=fill needs w or h.'],
    ['fit=crop&ar=1', 'ar must be W:H.'],
    ['fit=crop&ar=0:1', /^ar must be a number from/],
    ['rect=0.5,0,10,x', 'rect must be a number from 0 to 100000.'],
    ['rect=1,2,3', 'rect must be x,y,w,h.'],
    ['rect=1,2,0,5', /^rect must be left,top/],
    ['fit=fill&fill=gen', 'fill=gen has no equivalent here; the nearest is fill=blur.'],
    ['w=9&h=9&fit=fill&fill=blur&pad=3', /^fill=blur with bg, mask-bg or pad has no equivalent/],
    ['w=9&h=9&fit=fillmax&fill=blur&bg=fff', /^fill=blur with bg, mask-bg or pad has no/],
    [
      'w=9&h=9&fit=fill&fill=solid&fill-color=000&bg=fff',
      'fill-color must be the colour of bg here.',
    ],
    ['bg=80ffffff', 'bg must be opaque.'],
    ['bg=octarine', /^bg must be hex digits/],
    ['fm=json', 'fm must be one of jpg, pjpg, png, png8, png32, webp, avif, gif.'],
    ['auto=redeye', 'auto=redeye has no equivalent here.'],
    ['q=101', 'q must be a number from 0 to 100.'],
    ['sat=101', 'sat must be a number from -100 to 100.'],
    ['cs=x', 'cs must be one of origin, srgb, strip, tinysrgb.'],
    ['blur=2001', 'blur must be a number from 0 to 2000.'],
    ['usm=-5', 'usm has no equivalent here; the nearest is blur.'],
    ['mask=a.png', 'mask has no equivalent here; the nearest is mask=corners.'],
    ['mask=corners', 'mask=corners needs corner-radius, w or h here.'],
    ['txt64=SGk', 'txt64 has no equivalent here; the nearest is layer.'],
    ['t=0', 't has no equivalent here; the nearest is layer.'],
    [
      'w=3&high=5&txt=9&q=500',
      [
        'high has no equivalent here; the nearest is bri.',
        'txt has no equivalent here; the nearest is layer.',
        'q must be a number from 0 to 100.',
      ].join(' '),
    ],
    ['fit=clamp&fill=blur&auto=redeye', /^fit=clamp .* fit=fill\. auto=redeye has no equivalent/],
    ['blend=000', 'blend has no equivalent here.'],
    ['mark-tile=grid', 'mark-tile has no equivalent here.'],
    ['trim=color', 'trim=color has no equivalent here; the nearest is trim=auto.'],
    ['rot=90', 'rot=90 has no equivalent here; the nearest is or, which turns before the resize.'],
    ['facepad=2', 'facepad has no equivalent here; the nearest is fit=crop with crop=faces.'],
    ['min-h=9', 'min-h has no equivalent here; the nearest is minh.'],
    ['txt-size=9&txt=a', 'txt has no equivalent here; the nearest is layer.'],
    ['txt-size=9', 'txt-size has no equivalent here.'],
    ['orient=2', 'orient must be one of 0, 1, 3, 6, 8, 90, 180, 270.'],
    ['max-w=300', 'max-w has no equivalent here; the nearest is fit=max.'],
    ['ch=Width', 'ch has no equivalent here; the nearest is a srcset.'],
    ['invert=yes', 'invert must be true or false.'],
    ['page=1&frame=1', 'page excludes frame.'],
    ['dl=', /^dl must be a file name/],
    ['expires=soon', 'expires must be a Unix time in whole seconds, such as 1796083200.'],
    ['expires=1796083200000', /^expires must be .* such as 1796083200, not milliseconds\.$/],
    ['a&'.repeat(100), /^The query has more than 100/],
  ] as const) {
    const found = outcome('imgix', `/a.jpg?${query}`);
    if (typeof message === 'string') t.equal(found, `parameter_invalid: ${message}`, query);
    else t.match(found.replace('parameter_invalid: ', ''), message, query);
  }
});

t.test('reads paths and web proxy sources', async (t) => {
  for (const [path, expected] of [
    ['/x/%C3%BC%20y.jpg', 'https://cdn.example/media/x/%C3%BC%20y.jpg dpr=1'],
    ['/https%3A%2F%2Fa.example%2Fx.png%3Fv%3D2', 'https://a.example/x.png?v=2 dpr=1'],
    ['/http://a.example/x.png', 'http://a.example/x.png dpr=1'],
    ['/http:/a.example/x.png', 'http://a.example/x.png dpr=1'],
    ['/http%3A%2F%2Fuser@a.example/', /^source_invalid: The source URL must not contain a user/],
    ['/https%3A%2F%2F%ff', /^source_invalid: The source URL in the path is not encoded/],
    ['/../x', "source_invalid: The path leads out of the host's base."],
    ['/', 'source_missing: The path of the source is missing.'],
  ] as const) {
    const found = outcome('imgix', path, 'https://cdn.example/media/');
    if (typeof expected === 'string') t.equal(found, expected, path);
    else t.match(found, expected, path);
  }
});

t.test('finds the signature of a URL', async (t) => {
  const computeSignature = (path: string, query: string, secret = 'FOO123bar') => {
    const found = imgix.readSignature?.(path, query) ?? null;
    return found && [found.text, ...found.expected({ secret })];
  };
  // An example from imgix's libraries.
  const proxied = '/http%3A%2F%2Favatars.com%2Fjohn-smith.png';
  for (const [path, query] of [
    ['/users/1.png', 's=6797c24146142d5b40bde3141fd3600c'],
    ['/users/1.png', 'w=400&h=300&s=c7b86f666a832434dd38577e38cf86d1'],
    [proxied, 's=493a52f008c91416351f8b33d4883135'],
    [proxied, 'w=400&h=300&s=61ea1cc7add87653bb0695fe25f2b534'],
  ] as const) {
    const [text, expected] = computeSignature(path, query) ?? [];
    t.equal(text, expected, `${path}?${query}`);
  }
  t.equal(computeSignature('/a.jpg', 'w=400'), null);
  t.same(computeSignature('/a.jpg', 's'), ['', imgixSignature('FOO123bar', '/a.jpg', '')]);
  const between = computeSignature('/a.jpg', 'w=4&s=0&h=5');
  t.same(between, ['0', imgixSignature('FOO123bar', '/a.jpg', 'w=4&h=5')]);
});
