import { execFileSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { installed } from '../../../bench/servers/launch.ts';
import { type DialectName, dialects } from '../../../urls/src/index.ts';
import { outcome } from './url-outcome.ts';

type Row = readonly [path: string, expected: string | RegExp];

const shop = 'https://shop.example/a.jpg';
const invalid = (message: string) => `parameter_invalid: ${message}.`;
const refused = (option: string) => invalid(`${option} has no equivalent here`);

function check(t: Test, kind: DialectName, rows: readonly Row[]): void {
  for (const [path, expected] of rows) {
    const found = outcome(kind, path);
    if (typeof expected === 'string') t.equal(found, expected, path.slice(0, 100));
    else t.match(found, expected, path.slice(0, 100));
  }
}

t.test('reads the sources of imgproxy', async (t) => {
  const encoded = Buffer.from('https://x.cdn.example/ä?v=1').toString('base64url');
  check(t, 'imgproxy', [
    ['/unsafe/plain/a.jpg', `${shop} dpr=1`],
    ['/any/w:3/plain//a.jpg?x=1', `${shop} dpr=1&w=3 x`],
    [
      '/x/w:3/plain/https://x.cdn.example/a%20b.jpg@png',
      'https://x.cdn.example/a%20b.jpg dpr=1&fmt=png&w=3',
    ],
    ['/x/w%3A3/plain/https:/x.cdn.example/a.jpg', 'https://x.cdn.example/a.jpg dpr=1&w=3'],
    ['/x/plain/https://x.cdn.example/a%3Fv=1%40', 'https://x.cdn.example/a?v=1@ dpr=1'],
    [`/x/${encoded}`, 'https://x.cdn.example/%C3%A4?v=1 dpr=1'],
    [
      `/x/w:3/${encoded.slice(0, 5)}/${encoded.slice(5)}==.webp`,
      'https://x.cdn.example/%C3%A4?v=1 dpr=1&fmt=webp&w=3',
    ],
    ['/x/f:png/plain/a.jpg@webp', `${shop} dpr=1&fmt=webp`],
    ['/x/plain/a.jpg@', `${shop} dpr=1`],
    ['/x/plain/%2e%2e/%2e%2e/a.jpg', `${shop} dpr=1`],
    ['/', 'source_missing: The path must be /signature/options/source.'],
    ['/x', 'source_missing: The path must be /signature/options/source.'],
    ['/x/w:3/', 'source_missing: The source URL is missing.'],
    ['/x/w:3/plain/', 'source_missing: The source URL is missing.'],
    ['/x/plain/a.jpg@png@webp', 'source_invalid: The source has more than one format.'],
    ['/x/plain/a%ff', 'source_invalid: The source URL is not encoded properly.'],
    ['/x/plain/local:///m/a.jpg', 'https://shop.example/m/a.jpg dpr=1'],
    ['/x/plain/local://evil.example/a.jpg', /^source_invalid: The source must be an absolute http/],
    ['/x/plain/s3://bucket/a.jpg', /^source_invalid: The source must be an absolute http/],
    ['/x/plain/http://user:pass@a.example/', /^source_invalid: .*|parameter_invalid/],
    ['/x/w:3/a+b', 'source_invalid: The source URL must follow plain/, or be base64url-encoded.'],
    ['/x/_w', 'source_invalid: The source URL is not text in base64url.'],
    [`/x/${'a'.repeat(17_000)}`, /^source_invalid: The source URL must follow plain/],
    ['/x/enc/abcd', refused('enc')],
    ['/x/fit/plain/a.jpg', invalid('fit is not an option')],
    ['/x/plain/a.jpg@bmp', invalid('format must be one of jpeg, png, webp, avif, gif, jxl')],
    ['/x/plain/a.jpg@best', /^parameter_invalid: format must be one of/],
  ]);
});

t.test('reads the options of imgproxy by both of their names', async (t) => {
  const at = (options: string): string => `/x/${options}/plain/a.jpg`;
  const of = (native: string, ignored = ''): string => `${shop} ${native}${ignored}`;
  check(t, 'imgproxy', [
    [
      at('resize:fill:300:200:1/gravity:sowe'),
      of('dpr=1&enlarge=true&fit=cover&h=200&pos=southwest&w=300'),
    ],
    [at('rs:fill:300:200:1/g:sowe'), of('dpr=1&enlarge=true&fit=cover&h=200&pos=southwest&w=300')],
    [at('s::200/rt:fill/w:9'), of('dpr=1&enlarge=box&fit=cover&h=200&w=9')],
    [at('size:300/w:200/w:0'), of('dpr=1')],
    [at('rs:force:300'), of('dpr=1&fit=fill&h=1000&w=300')],
    [at('rs:force::300/rot:90'), of('dpr=1&fit=fill&h=300&rotate=90&w=1000')],
    [at('rt:auto/w:3/h:2'), of('dpr=1&enlarge=box&fit=cover&h=2&w=3')],
    [at('rt:auto/w:2/h:3'), of('dpr=1&fit=inside&h=3&w=2')],
    [at('rt:auto/w:2/h:3/rot:90'), of('dpr=1&enlarge=box&fit=cover&h=3&rotate=90&w=2')],
    [at('rt:auto/w:3'), of('dpr=1&w=3')],
    [at('rt:auto/w:3/h:2/t:4'), refused('resizing_type auto with trim')],
    [at('pr:card/rt:auto'), refused('resizing_type auto with a preset')],
    [at('rt:best'), invalid('resizing_type must be fit, fill, fill-down, force or auto')],
    [at('w:10001'), invalid('width must be a number from 0 to 10000')],
    [at('w:1.5'), invalid('width must be a whole number')],
    [at('w:'), /^parameter_invalid: width must be a number/],
    [at('w:1e2'), /^parameter_invalid: width must be a number/],
    [at('w:3:4'), invalid('width has too many arguments')],
    [at('w:3:::::::::::::::::::::::::::::::'), invalid('width has too many arguments')],
    [at('mw:0/min-height:0/w:3'), of('dpr=1&w=3')],
    [at('min-width:3'), of('dpr=1&minw=3')],
    [at('mh:2000/dpr:2'), of('dpr=1&minh=2000')],
    [
      at('rs:fit:400:400/mw:400/mh:300/g:no'),
      of('dpr=1&fit=inside&h=400&minh=300&minw=400&pos=north&w=400'),
    ],
    [at('w:300/dpr:2.5'), of('dpr=2.5&w=300')],
    [at('w:300/h:100/dpr:4'), of('dpr=1&fit=inside&h=400&w=1200')],
    [
      at('w:300/dpr:0.5/pd:9'),
      invalid('dpr must be from 1 to 3 with fill, extend or padding, or needs enlarge'),
    ],
    [at('w:300/dpr:0.5/pd:9/el:1'), of('dpr=1&enlarge=true&extend=5%2C5%2C5%2C5&w=150')],
    [
      at('rs:fill:300:200/dpr:4'),
      invalid('dpr must be from 1 to 3 with fill, extend or padding, or needs enlarge'),
    ],
    [
      at('rs:fill-down:300:200/dpr:2/pd:9'),
      invalid('padding with dpr needs enlarge, or the resizing type fit or fill'),
    ],
    [
      at('rs:fit:300:200/exar:1/dpr:2/pd:9'),
      invalid('padding with dpr needs enlarge, or the resizing type fit or fill'),
    ],
    [
      at('rs:fit:300:200/dpr:2/pd:9'),
      of('dpr=2&enlarge=box&extend=9%2C9%2C9%2C9&fit=inside&h=200&w=300'),
    ],
    [at('rs:fill:300:200/el:0'), of('dpr=1&enlarge=box&fit=cover&h=200&w=300')],
    [at('rs:fit:300:200/exar:1/el:0'), of('dpr=1&fit=contain&h=200&w=300')],
    [at('dpr:2/pd:9'), of('dpr=1&extend=9%2C9%2C9%2C9')],
    [at('dpr:0.5'), invalid('dpr needs a width or a height here')],
    [at('dpr:2/el:1'), invalid('dpr needs a width or a height here')],
    [at('z:2'), invalid('zoom needs a width or a height, and no preset')],
    [at('w:3/z:2:1'), invalid('zoom has too many arguments')],
    [at('zoom:0/w:3'), /^parameter_invalid: zoom must be a number/],
    [
      at('rs:fill:300:300/g:we:10'),
      of('dpr=1&enlarge=box&fit=cover&fp=0.333333%2C0.5&h=300&w=300'),
    ],
    [
      at('rs:fill:300:300/g:ce:0.1:0/dpr:2'),
      of('dpr=2&enlarge=box&fit=cover&fp=0.6%2C0.5&h=300&w=300'),
    ],
    [at('rs:fill:300:300/g:we:10/t:5'), refused('gravity with offsets with trim')],
    [at('rs:fill:3:3/g:obj:face'), of('dpr=1&enlarge=box&fit=cover&h=3&pos=attention&w=3')],
    [at('rs:fit:300:200/g:no:0:10'), of('dpr=1&fit=inside&h=200&w=300')],
    [at('g:left'), /^parameter_invalid: gravity must use one of the gravities ce, no, .*, obj\.$/],
    [at('g:sm:1'), invalid('gravity has the wrong number of arguments')],
    [at('g:fp:0.5'), invalid('gravity has the wrong number of arguments')],
    [at('g:fp:0.5:1.1'), invalid('gravity must be a number from 0 to 1')],
    [at('rs:fit:3:3/ex:1:noea'), of('dpr=1&enlarge=box&fit=contain&h=3&pos=northeast&w=3')],
    [at('rs:fill:3:3/ex:1'), invalid('extend needs the resizing type fit, or enlarge')],
    [at('rs:fill:3:3/ex:1/el:1'), of('dpr=1&enlarge=true&fit=cover&h=3&w=3')],
    [at('rs:fit:3:3/exar:1:fp:0:0'), refused('extend_aspect_ratio')],
    [at('c:400:300:we'), of('crop=0%2C350%2C400%2C300&dpr=1')],
    [at('c:0.5:300:nowe'), of('crop=0%2C0%2C800%2C300&dpr=1')],
    [at('c:400:300:nowe:0.5:0'), of('crop=800%2C0%2C400%2C300&dpr=1')],
    [at('c:400:300'), of('crop=600%2C350%2C400%2C300&dpr=1')],
    [at('c:400:300/g:soea:10:20'), of('crop=1190%2C680%2C400%2C300&dpr=1')],
    [
      at('c:400:300:fp:1:0.5/exp:4000000000'),
      of('crop=1200%2C350%2C400%2C300&dpr=1&exp=4000000000'),
    ],
    [at('c:4000:300'), of('crop=0%2C350%2C1600%2C300&dpr=1')],
    [
      at('c:400:300:sm'),
      /^parameter_invalid: crop with smart .* the nearest is rs:fill with g:sm\.$/,
    ],
    [
      at('c:400:300/rot:90'),
      invalid('crop of a rotated or flipped picture has no equivalent here'),
    ],
    [at('c:400:300/bl:0.1'), /^parameter_invalid: blur must be/],
    [at('c:400:300:nowe:-9:1'), of('crop=0%2C1%2C400%2C300&dpr=1')],
    [at('c:400::nowe'), /^parameter_invalid: crop must be a number/],
    [at('c:0:0'), of('dpr=1')],
    [at('c:4:3:nowe/t:5'), invalid('crop with trim has no equivalent here')],
    [
      at('c:4:3:nowe/rot:90'),
      invalid('crop of a rotated or flipped picture has no equivalent here'),
    ],
    [at('trim:1'), of('dpr=1&trim=1.0001')],
    [at('t:5:ffffff'), /^parameter_invalid: trim with a colour .* the nearest is trim:5\.$/],
    [at('t:5::1'), /^parameter_invalid: trim with a colour or equal sides has no equivalent/],
    [at('pd:1::3'), of('dpr=1&extend=1%2C1%2C3%2C1')],
    [at('rot:45'), invalid('rotate must be a multiple of 90')],
    [at('rot:90/fl:1'), of('dpr=1&flip=true&rotate=90')],
    [at('rot:180/fl:1:1'), of('dpr=1&flip=true&flop=true&rotate=180')],
    [at('bg:FFF'), of('bg=fff&dpr=1&flatten=true')],
    [at('bg:255:128:0'), of('bg=ff8000&dpr=1&flatten=true')],
    [at('bg:256:0:0'), /^parameter_invalid: background must be a number from 0 to 255/],
    [at('bg:'), of('dpr=1')],
    [at('bl:0.1'), /^parameter_invalid: blur must be empty/],
    [at('q:0/sh:0/mb:0'), of('dpr=1')],
    [at('fq:webp:60:jpg:80'), of('dpr=1&q=80')],
    [at('fq:webp:60:jpg:80/f:webp'), of('dpr=1&fmt=webp&q=60')],
    [at('fq:jpg:60/q:5'), of('dpr=1&q=5')],
    [at('fq:webp'), invalid('format_quality must have pairs of arguments')],
    [at('fq:webp:200'), /^parameter_invalid: format_quality must be a number from 0 to 100/],
    [at('sm:1'), of('dpr=1&keep=copyright')],
    [at('sm:1/kcr:0'), of('dpr=1')],
    [at('sm:0'), invalid("strip_metadata differs from the project's stripMetadata")],
    [at('scp:0'), of('dpr=1&icc=keep')],
    [at('exp:4000000000'), of('dpr=1&exp=4000000000')],
    [at('exp:0'), of('dpr=1')],
    [at('exp:-5'), of('dpr=1')],
    [at('exp:4000000000000'), /^parameter_invalid: expires must be .* not milliseconds\.$/],
    [at('exp:-x'), /^parameter_invalid: expires must be a Unix time in whole seconds/],
    [at('fn:bWFw:1/att:t'), of('download=map&dpr=1')],
    [at('fn:map'), of('dpr=1 filename')],
    [at('cb:a%20b'), /^parameter_invalid: cachebuster must be 1 to 64 letters/],
    [at('pr:card'), of('preset=card')],
    [at('pr:card/w:3/el:0'), of('enlarge=false&preset=card&w=3')],
    [at('pr:card/g:no'), of('pos=north&preset=card')],
    [at('pr:card/dpr:2'), of('dpr=2&preset=card')],
    [at('pr:card/ex:1'), invalid('extend with a preset has no equivalent here')],
    [at('w:300/ex:1'), of('dpr=1&enlarge=box&fit=contain&w=300')],
    [at('h:300/ex:1:so'), of('dpr=1&enlarge=box&fit=contain&h=300&pos=south')],
    [at('w:300/ex:1/el:1'), of('dpr=1&enlarge=true&w=300')],
    [at('w:300/exar:1'), of('dpr=1&w=300')],
    [at('q:3/pr:card'), of('preset=card&q=3')],
    [at('w:3/pr:card'), invalid('preset must precede the options that it replaces, such as w')],
    [at('pr:card:sharp'), /^parameter_invalid: preset must name one preset; store one with/],
    [at('pr:card/pr:card'), /^parameter_invalid: preset must name one preset/],
    [at('ar:0'), refused('auto_rotate')],
    [at('raw:t/w:3/cb:1/att:1'), of('download=a&dpr=1&v=1')],
    ['/x/raw:1/plain/a.svg@png', 'https://shop.example/a.svg dpr=1&fmt=svg'],
    [at('skp:png:jpg/w:3'), of('dpr=1')],
    [at('skp:png/w:3'), of('dpr=1&w=3')],
    [at('wm:0.5:soea:9'), of('dpr=1&layer=watermark', ' watermark')],
    [at('wm:0'), of('dpr=1')],
    [
      at('pg:2/da:1/ra:cubic/sa:0/aq:size:9'),
      of('animated=0&dpr=1&grayscale=true&kernel=cubic&page=2&q=auto'),
    ],
    [at('ra:best'), /^parameter_invalid: resizing_algorithm must be one of nearest/],
    [at('msr:9/maf:1/maf:5'), of('animated=false&dpr=1 max_src_resolution max_animation_frames')],
    [at('fiu:aHR0cHM6Ly9hLmV4YW1wbGUv'), of('dpr=1&fallback=https%3A%2F%2Fa.example%2F')],
    [at('fiu:zz'), invalid('fallback_image_url must be an absolute URL in base64url')],
    [
      at('mc:0.5/w:3/gr:1/rs:fill:3:3'),
      invalid(
        'monochrome:0.5 has no equivalent here; the nearest is monochrome:1. gr has no equivalent here',
      ),
    ],
    [at('dt:1:000080:fa8072'), of('dpr=1&duotone=000080%2Cfa8072')],
    [at('ba:10:0.2:0.2:0.3:0.3'), of('blurarea=320%2C200%2C480%2C300&dpr=1')],
    [at('ba:10:0.2:0.2'), invalid('blur_areas must have four numbers for each area')],
    [
      at('wmu:aHR0cHM6Ly9zaG9wLmV4YW1wbGUvbG9nby5wbmc/wm:0.8:soea:10:0.05:0.15'),
      of(
        'dpr=1&overlay=https%3A%2F%2Fshop.example%2Flogo.png&overlay.h=15%25&overlay.opacity=80&overlay.pos=southeast&overlay.w=15%25&overlay.x=10&overlay.y=5%25',
      ),
    ],
    [
      at('wmu:aHR0cHM6Ly9zaG9wLmV4YW1wbGUvbG9nby5wbmc/wm:0.8:re'),
      invalid('wm:re with wmu has no equivalent here; the nearest is wm:ce'),
    ],
    [at('dpi:300/jpgo:1:1'), of('chroma=444&density=300&dpr=1&progressive=true')],
    [at('pix:5/co:1.2/br:51'), of('contrast=20&dpr=1&lightness=20&pixelate=5')],
    [at('a::1.2:0.5/mc:1:f00'), of('contrast=20&dpr=1&saturation=0.5&tint=f00')],
    [at('pix:1/mc:0/pngo:1/avifo:1'), of('dpr=1 png_options avif_options')],
    ['/x/fill/300/200/no/1/plain/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=200&pos=north&w=300')],
    ['/x/crop/300/200/ce/0/YS5qcGc.png', of('crop=650%2C400%2C300%2C200&dpr=1&fmt=png')],
    ['/x/fit/300/0/sm/0/plain/a.jpg', of('dpr=1&w=300')],
    [
      '/x/fit/300/0/left/0/plain/a.jpg',
      /^parameter_invalid: gravity must use one of the gravities/,
    ],
    [at('constructor:1'), refused('constructor')],
    [at(`${'w:3/'.repeat(61)}h:3`), invalid('The path has too many or too long options')],
    [at(`cb:${'a'.repeat(400)}`), invalid('The path has too many or too long options')],
  ]);
});

t.test('reads the URLs of thumbor', async (t) => {
  const of = (native: string, ignored = ''): string => `${shop} ${native}${ignored}`;
  check(t, 'thumbor', [
    ['/unsafe/a.jpg', of('dpr=1')],
    ['/unsafe/300x200/shop.example/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=200&w=300')],
    ['/unsafe/x200/x.cdn.example/a', 'http://x.cdn.example/a dpr=1&enlarge=true&h=200'],
    ['/unsafe/https%3A%2F%2Fx.cdn.example%2Fa%3Fv%3D1', 'https://x.cdn.example/a?v=1 dpr=1'],
    ['/unsafe/https:/x.cdn.example/a', 'https://x.cdn.example/a dpr=1'],
    ['/unsafe/a.jpg?v=1', of('dpr=1', ' v')],
    ['/unsafe/origxorig/a.jpg', of('dpr=1')],
    ['/unsafe/origx20/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=20&w=1600')],
    [
      '/unsafe/0x0:9x7/30xorig/a.jpg',
      of('crop=0%2C0%2C9%2C7&dpr=1&enlarge=true&fit=cover&h=7&w=30'),
    ],
    ['/unsafe/-0x-0/a.jpg', of('dpr=1&flip=true&flop=true')],
    [
      '/unsafe/10x-20/left/top/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&flip=true&h=20&pos=southwest&w=10'),
    ],
    ['/unsafe/10x20/right/smart/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=20&pos=attention&w=10')],
    ['/unsafe/10x20/center/middle/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=20&w=10')],
    [
      '/unsafe/10x20/filters:rotate(270)/right/a.jpg',
      'https://shop.example/right/a.jpg dpr=1&enlarge=true&fit=cover&h=10&rotate=90&w=20',
    ],
    [
      '/unsafe/10x20/right/filters:rotate(90):rotate(90)/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&h=20&pos=west&rotate=180&w=10'),
    ],
    [
      '/unsafe/10x20/right/top/filters:rotate(90)/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&h=10&pos=northwest&rotate=270&w=20'),
    ],
    ['/unsafe/fit-in/10x20/a.jpg', of('dpr=1&fit=inside&h=20&w=10')],
    ['/unsafe/fit-in/10x/a.jpg', of('dpr=1&w=10')],
    ['/unsafe/adaptive-fit-in/10x10/a.jpg', of('dpr=1&fit=inside&h=10&w=10')],
    ['/unsafe/adaptive-full-fit-in/10x20/a.jpg', of('dpr=1&enlarge=true&fit=outside&h=10&w=20')],
    ['/unsafe/adaptive-fit-in/20x10/a.jpg', of('dpr=1&fit=inside&h=10&w=20')],
    ['/unsafe/10x20:110x70/a.jpg', of('crop=10%2C20%2C100%2C50&dpr=1')],
    ['/unsafe/10x20:5x70/a.jpg', of('dpr=1')],
    ['/unsafe/trim/a.jpg', of('dpr=1&trim=0.1')],
    ['/unsafe/trim:top-left:0/a.jpg', of('dpr=1&trim=0.1')],
    ['/unsafe/trim:20/a.jpg', of('dpr=1&trim=20')],
    ['/unsafe/trim:top-left:1/a.jpg', of('dpr=1&trim=1.0001')],
    [
      '/unsafe/trim:bottom-right/a.jpg',
      invalid('trim with bottom-right has no equivalent here; the nearest is trim'),
    ],
    ['/unsafe/trim/9xorig/a.jpg', invalid('trim with this size has no equivalent here')],
    ['/unsafe/trim/0x0:9x9/a.jpg', invalid('trim with a crop has no equivalent here')],
    ['/unsafe/meta/3x3/a.jpg', invalid('meta has no equivalent here; the nearest is fmt=json')],
    ['/unsafe/debug/3x3/a.jpg', refused('debug')],
    ['/unsafe/filters:quality(60):format(JPG)/a.jpg', of('dpr=1&fmt=jpeg&q=60')],
    ['/unsafe/filters:format(bmp):new(1):rotate(45)/a.jpg', of('dpr=1', ' format new rotate')],
    ['/unsafe/filters:format(heic)/a.jpg', invalid('format cannot be heic')],
    ['/unsafe/filters:quality(200)/a.jpg', /^parameter_invalid: quality must be a number from 1/],
    ['/unsafe/filters:quality(auto)/a.jpg', /^parameter_invalid: quality must be a number/],
    ['/unsafe/filters:blur(4,2)/a.jpg', of('blur=1.8516&dpr=1')],
    ['/unsafe/filters:saturation(0)/a.jpg', of('dpr=1&grayscale=true')],
    ['/unsafe/filters:background_color(red)/a.jpg', of('bg=red&dpr=1&flatten=true')],
    [
      '/unsafe/fit-in/9x9/filters:fill(red,1)/a.jpg',
      of('bg=red&dpr=1&enlarge=box&fit=contain&flatten=true&h=9&w=9'),
    ],
    [
      '/unsafe/fit-in/9x9/filters:fill(red):no_upscale()/a.jpg',
      invalid('no_upscale with fill has no equivalent here'),
    ],
    ['/unsafe/fit-in/9x0/filters:fill(red)/a.jpg', of('bg=red&dpr=1&enlarge=box&fit=contain&w=9')],
    ['/unsafe/fit-in/9x0/filters:upscale()/a.jpg', of('dpr=1&w=9')],
    ['/unsafe/fit-in/9x8/filters:upscale():no_upscale()/a.jpg', of('dpr=1&fit=inside&h=8&w=9')],
    ['/unsafe/9x0/filters:no_upscale()/a.jpg', of('dpr=1&w=9')],
    ['/unsafe/9x8/filters:no_upscale():stretch()/a.jpg', of('dpr=1&enlarge=box&fit=fill&h=8&w=9')],
    [
      '/unsafe/fit-in/9x8/filters:fill(blur)/a.jpg',
      of('bg=blur%2C27.21&dpr=1&enlarge=box&fit=contain&h=8&w=9'),
    ],
    ['/unsafe/filters:fill(auto)/a.jpg', of('bg=edge&dpr=1')],
    ['/unsafe/filters:fill(a-b)/a.jpg', invalid('fill must have a colour, auto or blur')],
    ['/unsafe/filters:fill(red):upscale()/a.jpg', invalid('upscale must precede fill here')],
    [
      '/unsafe/filters:fill(red):background_color(blue)/a.jpg',
      invalid('background_color with two colours has no equivalent here'),
    ],
    [
      '/unsafe/9x9/filters:focal(1100x280:1140x320)/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&fp=0.7%2C0.3&h=9&w=9'),
    ],
    [
      '/unsafe/100x80:500x380/9x9/filters:focal(190x140:210x160)/a.jpg',
      of(
        'crop=100%2C80%2C400%2C300&dpr=1&enlarge=true&fit=cover&fp=0.25%2C0.23333333333333334&h=9&w=9',
      ),
    ],
    [
      '/unsafe/-9x9/filters:focal(399x249:401x251):rotate(90)/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&flop=true&fp=0.25%2C0.25&h=9&rotate=270&w=9'),
    ],
    [
      '/unsafe/9x9/filters:focal(5x5:5x9)/a.jpg',
      of('dpr=1&enlarge=true&fit=cover&h=9&w=9', ' focal'),
    ],
    [
      '/unsafe/9x9/smart/filters:focal(1x1:3x3)/a.jpg',
      invalid('focal with smart has no equivalent here'),
    ],
    [
      '/unsafe/trim/9x9/filters:focal(1x1:3x3)/a.jpg',
      invalid('focal with trim has no equivalent here'),
    ],
    ['/unsafe/9x0/filters:focal(1x1:2x2)/a.jpg', of('dpr=1&enlarge=true&w=9')],
    ['/unsafe/filters:strip_icc()/a.jpg', of('dpr=1')],
    [
      '/unsafe/filters:text(1,2):equalize()/a.jpg',
      invalid(
        'text has no equivalent here; the nearest is layer. equalize has no equivalent here; the nearest is normalize',
      ),
    ],
    [
      '/unsafe/filters:brightness(-10):cover():max_age(9)/a.jpg',
      of('animated=0&dpr=1&lightness=-10'),
    ],
    ['/unsafe/filters:sharpen(2,1.5,true):autojpg()/a.jpg', of('dpr=1&sharpen=1.5')],
    ['/unsafe/filters:sharpen(0,1.5)/a.jpg', of('dpr=1')],
    ['/unsafe/filters:sharpen(2)/a.jpg', /^parameter_invalid: sharpen must be a number from 0/],
    [
      '/unsafe/filters:watermark(https%3A%2F%2Fshop.example%2Flogo.png,-10,5p,30,20,none)/a.jpg',
      of(
        'dpr=1&overlay=https%3A%2F%2Fshop.example%2Flogo.png&overlay.opacity=70&overlay.pos=northeast&overlay.w=20%25&overlay.x=10&overlay.y=5%25',
      ),
    ],
    [
      '/unsafe/filters:watermark(b.png,center,center,0)/a.jpg',
      of(
        'dpr=1&overlay=https%3A%2F%2Fshop.example%2Fb.png&overlay.opacity=100&overlay.pos=center&overlay.x=0&overlay.y=0',
      ),
    ],
    [
      '/unsafe/filters:watermark(b.png,repeat,0,0)/a.jpg',
      invalid('watermark with repeat has no equivalent here; the nearest is watermark with center'),
    ],
    ['/unsafe/filters:contrast(20)/a.jpg', of('contrast=44&dpr=1')],
    ['/unsafe/filters:contrast(-100)/a.jpg', of('contrast=-100&dpr=1')],
    ['/unsafe/filters:contrast(80)/a.jpg', of('contrast=100&dpr=1')],
    ['/unsafe/filters:round_corner(9,255,0,0)/a.jpg', of('bg=ff0000&dpr=1&flatten=true&radius=9')],
    ['/unsafe/filters:round_corner(9,0,0,0,1)/a.jpg', of('dpr=1&radius=9')],
    [
      '/unsafe/filters:round_corner(9|5,0,0,0,1)/a.jpg',
      invalid('round_corner(9|5) has no equivalent here; the nearest is round_corner(9)'),
    ],
    ['/unsafe/30x20/filters:proportion(0.5)/a.jpg', of('dpr=1&enlarge=true&fit=cover&h=10&w=15')],
    ['/unsafe/filters:proportion(0.5)/a.jpg', invalid('proportion needs a width or a height here')],
    ['/unsafe/filters:brightness(0)/a.jpg', of('dpr=1')],
    [`/unsafe/filters:${'upscale():'.repeat(31)}x()/a.jpg`, invalid('filters are more than 30')],
    [
      `/unsafe/filters:quality(${'1'.repeat(2_000)})/a.jpg`,
      invalid('filters have more than 2000 characters'),
    ],
    ['/unsafe/', 'source_missing: The path must be /signature/options/source.'],
    ['/a.jpg', 'source_missing: The path must be /signature/options/source.'],
    ['/unsafe/%ff', 'source_invalid: The path is not encoded properly.'],
    ['/unsafe/ftp://a.example/x', /^source_invalid: The source must be an absolute http/],
  ]);
});

t.test('reads the URLs of Cloudflare', async (t) => {
  const at = (options: string): string => `/cdn-cgi/image/${options}/a.jpg`;
  const of = (native: string, ignored = ''): string => `${shop} ${native}${ignored}`;
  check(t, 'cloudflare', [
    [at('w=300,h=200'), of('dpr=1&fit=inside&h=200&w=300')],
    ['/cdn-cgi/image/w=3//a.jpg', of('dpr=1&w=3')],
    [
      '/cdn-cgi/image/w=3/https:/x.cdn.example/a?v=1&w=2',
      'https://x.cdn.example/a?v=1&w=2 dpr=1&w=3',
    ],
    [at('w=3,width=4'), invalid('width is given more than once')],
    [at('width=auto'), of('')],
    [at('width=auto,h=3'), invalid("width auto can't be combined with a height here")],
    [at('w=0'), /^parameter_invalid: width must be a whole number from 1/],
    [at('w=3,fit=contain'), of('dpr=1&enlarge=true&w=3')],
    [at('w=3,fit=squeeze'), invalid('fit squeeze needs a width and a height here')],
    [at('w=3,fit=scale-up'), /^parameter_invalid: fit must be one of scale-down/],
    [
      at('w=3,h=3,fit=pad,background=%23123'),
      of('bg=123&dpr=1&enlarge=true&fit=contain&flatten=true&h=3&w=3'),
    ],
    [at('background=rgb(1,2,3),w=3'), of('bg=010203ff&dpr=1&flatten=true&w=3')],
    [at('w=3,background=rgba(1,2,3,1)'), of('bg=010203ff&dpr=1&flatten=true&w=3')],
    [at('w=3,origin-auth=share-publicly'), of('dpr=1&w=3')],
    [at('background=rgb(1%202%203)'), of('bg=010203ff&dpr=1&flatten=true')],
    [at('background=rgba(1%2C2%2C3%2C0)'), of('bg=01020300&dpr=1')],
    [
      at('background=rgba(1%2C2%2C3%2C.5)'),
      invalid('background must be opaque, or transparent as a whole'),
    ],
    [
      at('background=hsl(1%2C2%2C3)'),
      invalid('background must be a name, hex digits, rgb() or rgba()'),
    ],
    [
      at('w=3,h=3,fit=cover,g=face,rotate=90'),
      of('dpr=1&enlarge=true&fit=cover&h=3&pos=attention&rotate=90&w=3'),
    ],
    [at('w=3,h=3,fit=cover,g=0x1'), of('dpr=1&enlarge=true&fit=cover&fp=0%2C1&h=3&w=3')],
    [at('w=3,h=3,fit=cover,g=2x1'), invalid('gravity must be a number from 0 to 1')],
    [
      at('w=3,h=3,fit=cover,g=north'),
      invalid('gravity must be auto, face, a side, or two numbers such as 0.5x0.3'),
    ],
    [
      at('w=3,h=3,fit=cover,g=top,rotate=90'),
      invalid('gravity with rotate, flip or trim has no equivalent here'),
    ],
    [at('w=3,g=top'), of('dpr=1&w=3')],
    [at('trim=20;0;0;10'), of('crop=10%2C20%2C100000%2C100000&dpr=1')],
    [at('trim=0;0;0;0'), of('dpr=1')],
    [at('trim=20;1;0;10'), of('crop=10%2C20%2C1589%2C100000&dpr=1')],
    [at('trim=0;0;30;0'), of('crop=0%2C0%2C100000%2C970&dpr=1')],
    [at('trim=border,w=3'), of('dpr=1&trim=10&w=3')],
    [at('blur=1,contrast=1.2'), of('blur=0.5&contrast=20&dpr=1')],
    [at('trim=20;0'), invalid('trim must be four numbers of pixels')],
    [at('trim=1;0;0;0,dpr=2'), invalid('trim with dpr has no equivalent here')],
    [at('trim.top=4,trim.height=9'), of('crop=0%2C4%2C100000%2C9&dpr=1')],
    [at('dpr=auto'), /^parameter_invalid: dpr must be a number from 1 to 3/],
    [at('f=json'), invalid('format must be one of auto, avif, webp, jpeg, baseline-jpeg, png')],
    [at('f=png'), of('dpr=1&fmt=png')],
    [at('w=3,h=3,fit=cover,g=center'), of('dpr=1&enlarge=true&fit=cover&h=3&pos=center&w=3')],
    [at('q=high'), of('dpr=1&q=86')],
    [at('q=best'), /^parameter_invalid: quality must be a number/],
    [at('blur=0,sharpen=0,contrast=1,gamma=0,brightness=0'), of('dpr=1')],
    [at('sharpen=2'), of('dpr=1&sharpen=2')],
    [
      at('draw=5,gamma=2,w=0x5,dpr=9'),
      invalid(
        'draw has no equivalent here; the nearest is layer. gamma has no equivalent here; the nearest is brightness. dpr must be a number from 1 to 3',
      ),
    ],
    [at('rotate=45'), invalid('rotate must be one of 0, 90, 180, 270, 360')],
    [at('flip=x'), invalid('flip must be h, v or hv')],
    [at('metadata=none'), of('dpr=1')],
    [at('metadata=keep'), invalid("metadata differs from the project's stripMetadata")],
    [at('zoom=0.5'), of('dpr=1', ' zoom')],
    [at('onerror=redirect,scq=50,compression=fast'), of('dpr=1')],
    [at('f=baseline-jpeg'), of('dpr=1&fmt=jpeg')],
    [at('toString=1'), refused('toString')],
    [at(Array(41).fill('w=3').join()), invalid('The path has too many or too long options')],
    [at(`w=${'1'.repeat(1_000)}`), invalid('The path has too many or too long options')],
    ['/cdn-cgi/image/w=3/', 'source_missing: The path must be /cdn-cgi/image/options/source.'],
    ['/a.jpg', 'source_missing: The path must be /cdn-cgi/image/options/source.'],
    [
      '/cdn-cgi/image/w=3/cdn-cgi/image/w=3/a.jpg',
      'source_invalid: The source must not be below /cdn-cgi/image/.',
    ],
    [at('background=%ff'), invalid('background is not encoded properly')],
  ]);
});

const skip = !installed('openssl') && 'openssl is not installed';

t.test('expects the signatures that openssl computes', { skip }, async (t) => {
  const digest = (algorithm: string, key: string, text: Buffer | string): string =>
    execFileSync(
      'openssl',
      ['dgst', `-${algorithm}`, '-mac', 'HMAC', '-macopt', `hexkey:${key}`, '-binary'],
      { input: text },
    )
      .toString('base64')
      .replaceAll('+', '-')
      .replaceAll('/', '_');
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  const secret = { secret: hex('key'), salt: hex('salt') };
  const signed = '/rs:fill:3:2/plain/https://a.example/x%3Fy.jpg@png';
  const right = digest('sha256', secret.secret, `salt${signed}`).replaceAll('=', '');
  for (const path of [signed, signed.replace('s:f', 's%3Af'), signed.replace('//', '/')]) {
    const found = dialects.imgproxy.readSignature?.(`/${right}${path}`, '');
    t.equal(found?.text, right);
    t.same(found?.expected(secret), [right], path);
  }
  for (const path of ['/plain/a.jpg', '/YS5q/cGc.png', '/w:3/YS5qcGc']) {
    const expected = digest('sha256', secret.secret, `salt${path}`).replaceAll('=', '');
    t.same(dialects.imgproxy.readSignature?.(`/x${path}`, '')?.expected(secret), [expected], path);
  }
  t.equal(dialects.imgproxy.readSignature?.('/insecure/plain/a.jpg', ''), null);

  const text = '300x200/smart/filters:quality(80)/a%20b.jpg';
  const ofThumbor = digest('sha1', hex('MY KEY'), text);
  for (const written of [ofThumbor, ofThumbor.replace('=', '%3D')]) {
    const found = dialects.thumbor.readSignature?.(`/${written}/${text}`, '');
    t.equal(found?.text, ofThumbor);
    t.same(found?.expected({ secret: 'MY KEY' }), [ofThumbor]);
  }
  t.equal(dialects.thumbor.readSignature?.('/unsafe/a.jpg', ''), null);
});
