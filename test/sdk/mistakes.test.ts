import t from 'tap';
import { createClient } from '../../sdk/src/client/index.ts';
import { createImageUrls } from '../../sdk/src/index.ts';
import { imageDelivery } from '../../sdk/src/loaders/astro.ts';
import { createLoader } from '../../sdk/src/loaders/next.ts';
import nuxt from '../../sdk/src/loaders/nuxt.ts';
import { transform } from '../../sdk/src/loaders/unpic.ts';
import { createAsyncSigner, createSigner } from '../../sdk/src/sign/node.ts';
import { parameterNames, parameters } from '../../server/image/parameters.ts';

/** Simulates an untyped program, which can make each of these mistakes. */
const untyped = (value: unknown) => value as never;

const settings = { baseUrl: 'https://images.example.com', project: 'prj_32gx1acb9wtykf3m' };
const urls = createImageUrls({ ...settings, origin: 'https://shop.example.com' });
const src = 'https://shop.example.com/a.jpg';
const signing = { ...settings, secret: 'a', validFor: 60 };
const withBase = (baseUrl: unknown) => createImageUrls({ ...settings, baseUrl: untyped(baseUrl) });

const missing =
  "baseUrl is missing: pass the service's address, such as https://images.example.com. An environment variable that is not set is undefined, and in a browser so is one without the framework's prefix.";
const noProject = "project is missing: pass a project's id, such as prj_32gx1acb9wtykf3m.";

/** The commonest mistakes, with the sentence that each prints. */
const mistakes: ReadonlyArray<readonly [what: string, make: () => unknown, sentence: string]> = [
  ['no baseUrl', () => withBase(undefined), missing],
  [
    'a baseUrl without a scheme',
    () => withBase('images.example.com'),
    'baseUrl must be an absolute http or https URL, such as https://images.example.com, but is images.example.com.',
  ],
  [
    'a relative baseUrl',
    () => withBase('/images'),
    'baseUrl must be an absolute http or https URL, such as https://images.example.com, but is /images.',
  ],
  [
    '/img in baseUrl',
    () => withBase('https://images.example.com/img/'),
    'baseUrl must not end with /img, which is added to it: write https://images.example.com.',
  ],
  ['no project', () => createImageUrls(untyped({ baseUrl: settings.baseUrl })), noProject],
  [
    'projectId for project',
    () => createImageUrls(untyped({ baseUrl: settings.baseUrl, projectId: 'prj_a' })),
    'projectId is not an option. Did you mean project?',
  ],
  [
    'baseURL for baseUrl',
    () => createImageUrls(untyped({ baseURL: settings.baseUrl, project: 'prj_a' })),
    'baseURL is not an option. Did you mean baseUrl?',
  ],
  ['an empty src', () => urls.url(''), 'The source URL is missing.'],
  [
    'an undefined src',
    () => urls.picture(untyped(undefined)),
    'src must be a string, got undefined. Pass an image URL.',
  ],
  [
    'an imported image as src',
    () => urls.url(untyped({ src: '/a.jpg', width: 1, height: 1 })),
    'src must be a string, got an object. Pass the src of an imported image, or the href of a URL.',
  ],
  [
    'a relative src without origin',
    () => createImageUrls(settings).url('a.jpg'),
    'The source must be an absolute http or https URL or start with a slash, or createImageUrls needs an origin, such as https://shop.example.com: a.jpg is relative.',
  ],
  [
    'an origin without a scheme',
    () => createImageUrls({ ...settings, origin: 'shop.example.com' }).url('/a.jpg'),
    'origin must be an absolute http or https URL, such as https://shop.example.com, but is shop.example.com.',
  ],
  [
    'a misspelt option',
    () => urls.url(src, untyped({ widht: 300 })),
    'widht is not an option. Did you mean w?',
  ],
  [
    'an option of another library',
    () => urls.srcset(src, untyped({ magnify: 2 })),
    'magnify is not an option.',
  ],
  [
    'a value out of range',
    () => urls.url(src, { w: 0 }),
    'w must be a whole number from 1 to 10000, or a percentage of the source from 1p to 999p.',
  ],
  [
    'w of a picture',
    () => urls.picture(src, untyped({ w: 300 })),
    'w is not an option of srcset and picture: write widths, or fixed for an image of one size.',
  ],
  [
    'ratio of a URL',
    () => urls.url(src, untyped({ ratio: 2 })),
    'ratio is an option of srcset and picture only: write ar here.',
  ],
  [
    'a ratio as text',
    () => urls.picture(src, untyped({ ratio: '16:9' })),
    'ratio must be a number above 0, such as 16 / 9, but is 16:9.',
  ],
  [
    'sizes of a srcset',
    () => urls.srcset(src, untyped({ sizes: '50vw' })),
    'sizes is an option of picture only.',
  ],
  [
    'no secret, at the first use',
    () => createSigner({ ...signing, secret: untyped(undefined) })(urls.url(src)),
    "secret is missing: pass the project's signing secret, for example from the server's environment.",
  ],
  [
    'a signer of another project',
    () =>
      createImageUrls({ ...settings, sign: createSigner({ ...signing, project: 'a' }) }).url(src),
    'sign has not signed the URL: its baseUrl and project must be those of createImageUrls.',
  ],
  [
    'an asynchronous signer as sign',
    () => createImageUrls({ ...settings, sign: untyped(createAsyncSigner(signing)) }).url(src),
    'sign must return a string: with createAsyncSigner, sign the finished picture, as in await sign(picture).',
  ],
  [
    'a client without a key',
    () => createClient({ baseUrl: settings.baseUrl, apiKey: untyped(undefined) }),
    'apiKey is missing: pass an API key, sk_…',
  ],
  [
    'Next without its variables',
    () => createLoader(untyped({ baseUrl: undefined, project: undefined })),
    missing,
  ],
  [
    'Nuxt without options of the provider',
    () => nuxt().getImage('/a.jpg', untyped({ modifiers: {} })),
    missing,
  ],
  [
    'Astro without a project',
    () =>
      imageDelivery(untyped({ baseUrl: settings.baseUrl })).hooks['astro:config:setup']({
        command: 'build',
        config: {},
        updateConfig: () => undefined,
      }),
    noProject,
  ],
  [
    'unpic without options',
    () => transform(src, { width: 300 }),
    'Pass the options baseUrl and project.',
  ],
];

t.test('prints one sentence per common mistake', async (t) => {
  for (const [what, make, sentence] of mistakes) {
    t.throws(make, { name: 'TypeError', message: sentence }, what);
  }
});

t.test('accepts correct input', async (t) => {
  for (const baseUrl of [
    'http://localhost:3000',
    'https://a.example/img/b/',
    'HTTPS://a.example',
  ]) {
    t.match(createImageUrls({ ...settings, baseUrl }).url(src), /\/img\/https%3A/, baseUrl);
  }
  for (const name of parameterNames) {
    const { example, aliases } = parameters[name];
    for (const spelling of [name, ...aliases]) {
      t.match(urls.url(src, { [spelling]: example }), `&${spelling}=`, spelling);
    }
  }
  t.match(urls.url(src, { 'text.price': 'a' }), '&text.price=a');
  const undefinedOptions = { ratio: undefined, widths: undefined, fixed: undefined };
  t.match(urls.picture(src, untyped({ ...undefinedOptions, w: undefined })), { sources: Array });
});
