import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import t from 'tap';
import { installed } from '../../bench/servers/launch.ts';
import { rootPath } from '../root.ts';

/** A phrase that is always wrong, and an ordinary sentence that must pass. */
interface Mistake {
  readonly found: RegExp;
  readonly advice: string;
  readonly wrong: string;
  readonly right: string;
}

/** Whoever adds a row shows that an ordinary sentence of a newcomer passes. */
const mistakes: readonly Mistake[] = [
  {
    found: /\bsome \d/,
    advice: 'about 60',
    wrong: 'It takes some 60 seconds.',
    right: 'Some of the 60 tests need Chromium.',
  },
  {
    found: /\bin case that\b/,
    advice: 'if, or in case',
    wrong: 'It retries in case that a call fails.',
    right: 'Keep a copy in case the disk fails.',
  },
  {
    found: /\ballows? to\b/,
    advice: 'allows you to, or lets you',
    wrong: 'The command allows to purge images.',
    right: 'The command allows you to purge images.',
  },
  {
    found: /\bpossibility to\b/,
    advice: 'a way to',
    wrong: 'There is no possibility to undo it.',
    right: 'There is a possibility of data loss.',
  },
  {
    found: /\b(?:informations|advices|feedbacks)\b/,
    advice: 'the singular',
    wrong: 'See the informations below.',
    right: 'See the information below.',
  },
  {
    found: /\bdepend(?:s|ing)? of\b/,
    advice: 'depends on',
    wrong: 'The size depends of the source.',
    right: 'The size depends on the source.',
  },
  {
    found: /\b(?:is|runs?|waits?) since (?:\d+|two|three) (?:seconds|minutes|hours|days)\b/,
    advice: 'for two seconds',
    wrong: 'The job waits since two minutes.',
    right: 'The job has waited since 10:00.',
  },
  {
    found: /\b(?:less|much) (?:requests|images|files|bytes|processes)\b/,
    advice: 'fewer, or many',
    wrong: 'It sends less bytes.',
    right: 'It sends fewer bytes.',
  },
  {
    found: /\bhow (?:it|they|this|that) looks? like\b/,
    advice: 'what it looks like',
    wrong: 'See how it looks like.',
    right: 'See what it looks like.',
  },
  {
    found: /\banother \w+ than\b/,
    advice: 'a different size from, or does not match',
    wrong: 'The image has another size than its header.',
    right: 'The field has another name.',
  },
];

const skip = !installed('git') && 'git is not installed';

/** Documents, code with its messages and comments, and configuration. */
const extensions = new Set(
  '.md .ts .tsx .js .html .yaml .yml .conf .cfg .vcl .service .env .txt .tpl .json'.split(' '),
);
const named = new Set(['Dockerfile', 'Caddyfile', 'image-delivery-admin']);
const exempt = new Set(['package-lock.json', 'test/documents/english.test.ts']);

t.test('contains no phrase that is always wrong', { skip }, async (t) => {
  const list = execFileSync('git', ['ls-files', '-z'], { cwd: rootPath, encoding: 'utf8' });
  const files = list
    .split('\0')
    .filter((path) => extensions.has(extname(path)) || named.has(basename(path)));
  for (const path of files) {
    if (exempt.has(path)) continue;
    // A deleted file is listed until the next commit.
    const text = await readFile(`${rootPath}/${path}`, 'utf8').catch(() => '');
    const words = text.replaceAll(/\s+(?:(?:\/\/|\*|#)\s+)?/g, ' ');
    for (const { found, advice } of mistakes) {
      const [phrase] = found.exec(words) ?? [];
      if (phrase !== undefined) t.fail(`${path}: '${phrase}'; write ${advice}`);
    }
  }
  t.ok(files.length > 0 || skip);
});

t.test('recognises the mistakes, and accepts ordinary sentences', (t) => {
  for (const { found, wrong, right } of mistakes) {
    t.match(wrong, found);
    t.notMatch(right, found);
  }
  // Like sentences in the documentation of Caddy and Fastify.
  const ordinary = [
    'By default, all requests are logged.',
    'You can use this directive to tell the server which hosts it is responsible for.',
    'This is the address that the server is bound to, and it has the lowest priority.',
    'If none of the routes match, a 404 is returned.',
    "It's also possible to load the settings from a file of your own, without the defaults.",
    'For example, the timeout can be increased if your upstream is known to be slow.',
    "If you don't need the plugin any more, simply remove it from the list.",
    'A hook is called once for each request, before the body has been parsed.',
    'Note that the order of the handlers matters, and that some of them cannot be replaced.',
    'Should the certificate expire, it is renewed automatically, and a warning is written to the log.',
  ];
  for (const sentence of ordinary) {
    for (const { found } of mistakes) t.notMatch(sentence, found);
  }
  t.end();
});
