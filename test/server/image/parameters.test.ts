import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { ServiceError } from '../../../contract/errors.ts';
import { readOptions, readQuery } from '../../../server/image/address.ts';
import { parameterNames, parameters } from '../../../server/image/parameters.ts';
import { propertyRuns } from '../../extended.ts';

const read = (query: string) => readOptions(new Map(new URLSearchParams(query)));

const names = parameterNames.flatMap((name) => [name, ...parameters[name].aliases]);

t.test('reads values under canonical names and aliases', async (t) => {
  const readings: readonly (readonly [string, object])[] = [
    ['', {}],
    ['utm=1&W=5&exp=9&sig=x&__proto__=1&constructor=2&toString=3', {}],
    ['w=1&h=300&q=1&fmt=webp&fit=contain', { w: 1, h: 300, q: 1, fmt: 'webp', fit: 'contain' }],
    ['width=10000&height=300&quality=100&f=avif', { w: 10_000, h: 300, q: 100, fmt: 'avif' }],
    ['q=AUTO&fmt=auto&fit=outside&dpr=1', { q: 'auto', fmt: 'auto', fit: 'outside', dpr: 1 }],
    ['format=png&dpr=2.25&blur=0.3', { fmt: 'png', dpr: 2.25, blur: 0.3 }],
    ['fmt=gif&dpr=3&blur=100', { fmt: 'gif', dpr: 3, blur: 100 }],
    ['fmt=jpg&pos=entropy&fp=0,1', { fmt: 'jpeg', pos: 'entropy', fp: { x: 0, y: 1 } }],
    ['fmt=JPEG&gravity=Left-Bottom', { fmt: 'jpeg', pos: 'southwest' }],
    ['fmt=thumbhash&fp=0.25_0.5', { fmt: 'thumbhash', fp: { x: 0.25, y: 0.5 } }],
    ['ar=16:9', { ar: 16 / 9 }],
    ['ar=1.5', { ar: 1.5 }],
    ['ar=2.5:1.25', { ar: 2 }],
    ['bg=ABC', { bg: '#aabbccff' }],
    ['b=abcd', { bg: '#aabbccdd' }],
    ['background=transparent', { bg: '#00000000' }],
    ['bg=rebeccapurple', { bg: '#663399ff' }],
    ['bg=Blur', { bg: { blur: 20 } }],
    ['bg=blur,2.5', { bg: { blur: 2.5 } }],
    ['bg=blur_250', { bg: { blur: 250 } }],
    ['bg=EDGE', { bg: { blur: null } }],
    ['enlarge&flip=0&kernel=mks2021', { enlarge: true, flip: false, kernel: 'mks2021' }],
    ['enlarge=BOX', { enlarge: 'box' }],
    ['crop=1,2,3,4', { crop: { left: 1, top: 2, width: 3, height: 4 } }],
    ['crop=0,0.0,1,1', { crop: { left: 0, top: 0, width: 1, height: 1 } }],
    ['crop=0,0,1,0.5', { crop: { left: 0, top: 0, width: 1, height: 0.5, unit: 'share' } }],
    [
      'blurarea=0_0_0.5_1',
      { blurarea: [{ left: 0, top: 0, width: 0.5, height: 1, unit: 'share' }] },
    ],
    ['w=50p&h=33.3%25', { w: { share: 0.5 }, h: { share: 0.333 } }],
    ['extend=0_1_2_2000', { extend: { top: 0, right: 1, bottom: 2, left: 2_000 } }],
    ['trim=0.5&rotate=-12.5&threshold=0', { trim: 0.5, rotate: 347.5, threshold: 0 }],
    [
      'modulate=0,10,-360,-0.5',
      { modulate: { brightness: 0, saturation: 10, hue: 0, lightness: -0.5 } },
    ],
    ['opacity=0&frame=0&download=a%20b', { opacity: 0, page: 0, download: 'a b' }],
    ['radius=4_0_0_8', { radius: { topLeft: 4, topRight: 0, bottomRight: 0, bottomLeft: 8 } }],
    ['radius=9', { radius: { topLeft: 9, topRight: 9, bottomRight: 9, bottomLeft: 9 } }],
    ['radius=MAX', { radius: 'max' }],
    ['outline=3,F00', { outline: { width: 3, colour: '#ff0000ff' } }],
    ['radius=0', { radius: null }],
    ['gamma=1&median=1&opacity=1', { gamma: null, median: null, opacity: null }],
  ];
  for (const [query, options] of readings) t.same(read(query), options, query);
  t.equal(new Set(names).size, names.length, 'a name belongs to one parameter');
});

t.test('adds a repeated area to the list, and refuses other repeated parameters', async (t) => {
  const area = { left: 1, top: 2, width: 3, height: 4 };
  const other = { left: 5, top: 6, width: 7, height: 8 };
  const list = (query: string) => readOptions(readQuery(query, null).parameters);
  for (const query of [
    'blurarea=1,2,3,4,5,6,7,8',
    'blurarea=1_2_3_4_5_6_7_8',
    'blurarea=1,2,3,4&w=9&blurarea=5_6_7_8',
  ]) {
    t.same(list(query).blurarea, [area, other], query);
  }
  const many = (count: number) => Array(count).fill('pixelatearea=1,2,3,4').join('&');
  t.equal(list(many(20)).pixelatearea?.length, 20);
  t.throws(() => list(many(21)), { code: 'parameter_invalid' });
  t.throws(() => list('blurarea=1,2,3,4&blurarea=1,2'), { code: 'parameter_invalid' });
  t.throws(() => list('crop=1,2,3,4&crop=1,2,3,4'), /crop is given more than once/);
});

t.test('reads an empty flag, 1 and true as on, and 0 and false as off', async (t) => {
  for (const on of ['', '=', '=1', '=true', '=TRUE']) {
    t.same(read(`flip${on}`), { flip: true }, `flip${on}`);
    t.same(read(`blur${on}`), { blur: 1 }, `blur${on}, which could have a number`);
  }
  for (const off of ['=0', '=false', '=False']) {
    t.same(read(`flip${off}`), { flip: false }, `flip${off}`);
    t.same(read(`blur${off}`), { blur: null }, `blur${off}`);
  }
});

t.test('rejects values out of range and unknown words by parameter name', async (t) => {
  const refused = {
    w: ['', '0', '-1', '10001', '1.5', '1e3', '0x10', ' 5', '5 ', '+5', '1,000', 'ten', '१'],
    h: ['', '0', '10001', 'NaN', 'Infinity'],
    q: ['', '0', '101', '80%', 'null', 'automatic', 'auto,80'],
    fmt: ['', 'bmp', 'ico', 'image/webp', 'web p', 'constructor', '__proto__'],
    fit: ['', 'crop', 'toString', 'cover,'],
    minw: ['', '0', '10001', '1.5'],
    minh: ['', '0', '10001'],
    zoom: ['', '0', '0.05', '10.1', '2x'],
    dpr: ['', '0', '0.5', '3.1', '2x', '1..5', '1.', '.5', '9'.repeat(400)],
    ar: [
      '',
      '0',
      '10001',
      '0:1',
      '1:0',
      '0.5:1',
      '16:',
      ':9',
      '16:9:1',
      '-1:1',
      '16x9',
      '1:10001',
      '1e1',
      ' 1',
    ],
    blur: ['0.2', '101', '-1', 'yes', 'NaN'],
    pos: ['', 'middle', 'top top', '5', 'constructor'],
    fp: ['', '0.5', '0.5,0.5,0.5', '-0.1,0', '0,1.1', 'center', '50%,50%'],
    bg: [
      '',
      '#fff',
      'ff',
      'fffff',
      '0xfff',
      'rgb(0,0,0)',
      'inherit',
      'toString',
      'blur,',
      'blur,0',
      'blur,251',
      'blur,9,9',
      'edge,1',
    ],
    flip: ['2', 'yes', 'on', 'null'],
    kernel: ['', 'bicubic'],
    crop: [
      '0.5,0,2,1',
      '0,0,1,1.5',
      '0.5,0,0,1',
      '',
      '1',
      '1,2,3',
      '1,2,3,4,5',
      '-1,0,5,5',
      '0,0,0,5',
      '0,0,5,0',
      '1,2,3,4px',
      'a,b,c,d',
    ],
    trim: ['101', '-1', 'yes'],
    extend: ['1', '1,1,1,2001', '-1,0,0,0', '1.5,0,0,0'],
    rotate: ['', '361', '-360.5', '90deg', 'auto'],
    sharpen: ['0.001', '11'],
    median: ['0', '16', '3.5', ''],
    gamma: ['0.9', '3.1', ''],
    threshold: ['256', '-1', ''],
    brightness: ['-1', '11', ''],
    hue: ['361', '1.5'],
    lightness: ['-101', '101'],
    modulate: ['', '1', '1,1,0', '11,1,0,0', '1,1,1.5,0'],
    contrast: ['', '101', '-101', '1e1', 'high'],
    sepia: ['', '-1', '100.5', 'true'],
    duotone: ['', 'fff', 'fff,', 'fff,000,111', 'fff,none', '#fff,000'],
    vignette: ['', '-1', '101'],
    blurarea: ['', '1,2,3', '1,2,3,4,5', '1,2,0,4', '1,2,3,4,', Array(21).fill('1,2,3,4').join()],
    pixelatearea: ['', '-1,0,5,5', `${'1,'.repeat(5_000)}1`],
    pixelate: ['', '0', '201', '2.5'],
    tint: ['', 'sepia'],
    opacity: ['1.1', '-0.1', ''],
    radius: ['', '-1', '10001', '1.5', '1,2', '1,2,3', '1,2,3,4,5', '1,2,3,-4', 'round'],
    outline: ['', '3', 'red', '0,red', '1001,red', '1.5,red', '3,', '3,red,blue', '3.01,red'],
    page: ['', '-1', '1.5', '100000', 'last'],
    animated: ['maybe'],
    lossless: ['2'],
    maxbytes: ['0', '-5', '1.5', '10k', ''],
    chroma: ['', '422', '4:2:0'],
    progressive: ['2', 'yes'],
    density: ['', '29', '10001', '72.5', '72dpi'],
    keep: ['', 'all', 'exif'],
    icc: ['', '1', 'p3'],
    hdr: ['', '1', 'pq'],
    filename: ['', '..', '\0\u202e', '\u2068', 'a'.repeat(10_000)],
    download: ['', '..', '\0\u202e', 'a'.repeat(201)],
  };
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      t.throws(
        () => readOptions(new Map([[name, value]])),
        { code: 'parameter_invalid', message: new RegExp(`\\b${name}\\b`) },
        `${name}=${value.slice(0, 20)}`,
      );
    }
  }
});

t.test("names the query's alias and the accepted values in an error", async (t) => {
  t.throws(() => read('quality=0'), {
    message: 'quality must be a whole number from 1 to 100, or auto.',
  });
  t.throws(() => read('f=bmp'), { message: /^f must be one of auto, avif, webp, jpeg, png, gif/ });
  t.throws(() => read('w=5&width=5'), { code: 'parameter_invalid', message: /\bw\b.*\bwidth\b/ });
});

t.test('returns valid options or a ServiceError for any query', async () => {
  const name = fc.oneof(fc.constantFrom(...names, '__proto__', 'hasOwnProperty'), fc.string());
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double().map(String),
    fc.integer().map(String),
    fc.constantFrom('', '0', '1', 'true', 'false', '-0', '1e9', '0x1', '9'.repeat(5_000), ','),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (pairs) => {
      try {
        const options = readOptions(new Map(pairs));
        return Object.entries(options).every(
          ([key, option]) => parameterNames.some((known) => known === key) && option !== undefined,
        );
      } catch (error) {
        return error instanceof ServiceError && error.code === 'parameter_invalid';
      }
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

t.test('accepts the decimals of programs in numbers, and rounds to six', async (t) => {
  const read = (name: keyof typeof parameters, text: string) => parameters[name].parse(text);
  t.equal(read('rotate', '93.11421546706777'), 93.114215);
  t.same(read('fp', '0.12345678901234567,0.5'), read('fp', '0.123457,0.5'));
  t.equal(read('blur', '0.29999999'), undefined, 'the range is that of the text');
  t.equal(read('w', '800.00000001'), undefined, 'a whole number stays one');
});

t.test("accepts the same texts in a parameter's schema as in its parser", async (t) => {
  const number = fc.tuple(fc.integer({ min: -400, max: 20_000 }), fc.integer({ min: 0, max: 99 }));
  const decimal = number.map(([whole, part]) => (part < 50 ? `${whole}` : `${whole / 100}`));
  const small = fc.integer({ min: -50, max: 400 }).map((value) => String(value / 100));
  const long = fc.double({ min: -400, max: 400, noNaN: true }).map((value) => value.toFixed(14));
  const texts = fc.oneof(
    decimal,
    small,
    long,
    fc.tuple(long, long).map((both) => both.join('_')),
    fc.array(fc.oneof(decimal, small), { minLength: 3, maxLength: 5 }).map((all) => all.join('_')),
    fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }).map(String),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 9 }),
    fc.string({ maxLength: 5 }),
    fc.constantFrom('', '0', '1', 'true', 'false', 'auto', 'jpg', 'tomato', 'left,top'),
    fc.constantFrom('centre', 'entropy', 'contain', 'mks2021', 'lqip', 'transparent', 'lanczos3'),
    fc.constant('right top'),
  );
  // Request validators convert the text to the schema's type if possible.
  const ajv = new Ajv2020({ strict: false, coerceTypes: true });
  /** Some validators read other texts, such as 1e3, as numbers. */
  const plain = /^(?:-?\d+(?:\.\d+)?|[a-z]+(?:[ ,][a-z]+)?)$/;
  for (const name of parameterNames) {
    const { schema, parse, example } = parameters[name];
    // Only the parser checks the ranges of numbers within a text.
    const isExact = !('parts' in parameters[name]) && name !== 'ar';
    const validate = ajv.compile({ properties: { value: schema } });
    t.notSame(schema, { type: 'string' }, `${name} says more than that it is a text`);
    let accepted = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parse(text) !== undefined;
        if (parsed) accepted += 1;
        const valid = validate({ value: text });
        return parsed ? valid : !isExact || !valid || !plain.test(text);
      }),
      // The example runs before the random texts, so every run accepts at least one text.
      { numRuns: propertyRuns(500), examples: [[example]] },
    );
    t.ok(accepted > 0, `${name}: ${accepted} texts were accepted`);
  }
});

t.test('replaces only other parameters', async (t) => {
  for (const name of parameterNames) {
    for (const other of parameters[name].replaces) {
      t.ok(Object.hasOwn(parameters, other) && other !== name, `${name} ${other}`);
    }
  }
});
