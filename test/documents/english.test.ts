import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import t from 'tap';
import { installed } from '../../bench/servers/launch.ts';
import { rootPath } from '../root.ts';
import { readProse } from './pages.ts';

type Place = 'docs' | 'comments' | 'titles';

/** A pattern that native readers stumble over, with the advice and the maximum count per place. */
interface Pattern {
  readonly name: string;
  readonly advice: string;
  readonly found: RegExp;
  readonly most: Readonly<Record<Place, number>>;
}

/**
 * Counts may only fall: lower a row after you have reworded texts. A hit is a prompt to look, not
 * always an error.
 */
const patterns: readonly Pattern[] = [
  {
    name: 'passive voice',
    advice: 'name who acts',
    found:
      /\b(is|are|was|were|be|been) (not |never |also |then |only |still )?\w+(ed|ept|own|ent|ead|ade|ound|iven|itten|aken|hosen|eld)\b/g,
    most: { docs: 107, comments: 494, titles: 3 },
  },
  {
    name: "'the \u2026 of'",
    advice: "use a compound noun or 's",
    found:
      /\b[Tt]he (names?|size|length|address|state|cost|limits?|time|bytes|fields?|keys?|values?|headers?|formats?|types?|files?|ids?|hosts?|memory|queue|order|path|texts?|words|version|settings?|end|start|folder|response|requests?|images?|sources?|pictures?|URLs?|jobs?|projects?) of (an?|the|its|each|one|all|this|that|another|every)\b/g,
    most: { docs: 19, comments: 153, titles: 6 },
  },
  {
    name: "'has the'",
    advice: 'use contains, takes, returns or supports',
    found:
      /\b(has|have) (the|an?|its|their|no|all|only|some|one|two|at most|fewer|more|other|as many)\b/g,
    most: { docs: 43, comments: 81, titles: 0 },
  },
  {
    name: "'may'",
    advice: 'use can or might',
    found: /\b[Mm]ay\b/g,
    most: { docs: 3, comments: 2, titles: 1 },
  },
  {
    name: "'none', 'nothing'",
    advice: 'negate the verb',
    found: /\b([Nn]one|[Nn]othing|[Nn]obody|[Nn]either|no one)\b/g,
    most: { docs: 46, comments: 45, titles: 16 },
  },
  {
    name: "'one' as a pronoun",
    advice: 'repeat the noun',
    found:
      /\b([Aa]n?|[Tt]he|this|that|each|every|another|no|older|other|former|previous|new|first|last|second|next|larger|smaller|only|of|than) ones?\b(?! (of|week|day|hour|second|minute|side|page|image|file|process))/g,
    most: { docs: 0, comments: 24, titles: 2 },
  },
  {
    name: "'that is \u2026ed'",
    advice: 'use an adjective',
    found:
      /\b(that|which) (is|are|was|were|has been|have been) (not |already |being |never )?\w+(ed|en|own|nt|lt|pt|ade|ead|ound|ut)\b/g,
    most: { docs: 2, comments: 22, titles: 0 },
  },
  {
    name: "'for each'",
    advice: 'use per',
    found: /\b(for|in|of) each\b/g,
    most: { docs: 7, comments: 36, titles: 5 },
  },
  {
    name: "'picture'",
    advice: 'use source image, image or photo',
    found: /\b[Pp]ictures?\b/g,
    most: { docs: 10, comments: 20, titles: 6 },
  },
  {
    name: "'what is'",
    advice: 'use a real noun',
    found:
      /\b[Ww]hat (is|was|has|had|are|were|it|they|the|an?|that|this|each|every|no|one|clients|can(not)?|others)\b/g,
    most: { docs: 0, comments: 4, titles: 1 },
  },
  {
    name: "'that of', 'those of'",
    advice: 'repeat the noun',
    found: /\b(that|those) of\b/g,
    most: { docs: 1, comments: 4, titles: 0 },
  },
  {
    name: "'without the'",
    advice: 'use if, un- or -less',
    found: /\b(?:\w+s? )without (an?|the|any|it|one|them|its)\b/g,
    most: { docs: 25, comments: 46, titles: 2 },
  },
  {
    name: "'x' for a ratio",
    advice: 'write 40% faster, or 1.5 times as many',
    found: /(?<=[0-9]) x\b/g,
    most: { docs: 0, comments: 11, titles: 0 },
  },
  {
    name: "'whose'",
    advice: 'use with',
    found: /\bwhose\b/g,
    most: { docs: 1, comments: 21, titles: 0 },
  },
  {
    name: "'of \u2026 of'",
    advice: 'use a compound noun',
    found: /\bof (the |an? |its |all |each )?\w+ of\b/g,
    most: { docs: 1, comments: 8, titles: 0 },
  },
  {
    name: "'by which'",
    advice: 'end with the preposition, or use where or when',
    found:
      /\b(by|to|in|with|from|of|for|on|at|into|after|behind|under|through|during|about|between|within|than) which\b/g,
    most: { docs: 5, comments: 29, titles: 0 },
  },
  {
    name: "'answer'",
    advice: 'use respond, return or response',
    found: /\b[Aa]nswer(s|ed|ing)?\b/g,
    most: { docs: 1, comments: 2, titles: 1 },
  },
  {
    name: "'begin'",
    advice: 'use start',
    found: /\b([Bb]egin(s|ning)?|[Bb]egan|[Bb]egun)\b/g,
    most: { docs: 0, comments: 0, titles: 0 },
  },
  {
    name: "', and is'",
    advice: 'drop the comma, or write two sentences',
    found: /, and (is|are|has|have|was|were|gets?|does|its|then|not)\b/g,
    most: { docs: 7, comments: 41, titles: 3 },
  },
  {
    name: "'ask', 'tell'",
    advice: 'use request, query, report or show',
    found: /\b([Aa]sk(s|ed|ing)?|[Tt]ell(s|ing)?|[Tt]old)\b/g,
    most: { docs: 3, comments: 5, titles: 0 },
  },
  {
    name: 'history',
    advice: 'delete it: history belongs in the changelog',
    found:
      /(\b[Bb]efore,|\b[Nn]o longer\b|\b[Uu]ntil now\b|\bas before\b|\(before|\bany ?more\b|\bnow\b)/g,
    most: { docs: 1, comments: 35, titles: 2 },
  },
  {
    name: "'also'",
    advice: 'use including or even if',
    found:
      /(, also\b|\balso (an?|the|for|in|of|with|by|while|if|when|those|one|from|after|during|on|at|as|to)\b)/g,
    most: { docs: 5, comments: 2, titles: 0 },
  },
  {
    name: "'of its own'",
    advice: 'use separate or dedicated',
    found: /\bof (its|their|your|our) own\b/g,
    most: { docs: 0, comments: 1, titles: 0 },
  },
  {
    name: "'of 12 pixels'",
    advice: 'hyphenate: a 12-megapixel photo',
    found:
      /\bof (at most |about |up to |some |more than )?[0-9][0-9,.]* ?(px|KB|MB|GB|KiB|MiB|GiB|bytes|pixels|megapixels|ms|seconds|s|minutes|days|points|bits|characters)\b/g,
    most: { docs: 6, comments: 10, titles: 0 },
  },
  {
    name: "'beside'",
    advice: 'use next to or compared with',
    found: /\b[Bb]esides?\b/g,
    most: { docs: 0, comments: 0, titles: 0 },
  },
  {
    name: "'as those are'",
    advice: 'use like',
    found: /\b[Aa]s (those|that|others?|it|they|one|these) (is|are|was|were|does|do|of|in)\b/g,
    most: { docs: 0, comments: 1, titles: 0 },
  },
  {
    name: "'know', 'learn'",
    advice: 'use caches, receives, stores or trusts',
    found: /\b([Kk]nows?|learns?|remembers?|forgets?|forgotten|believes?|believed)\b/g,
    most: { docs: 1, comments: 2, titles: 0 },
  },
  {
    name: "'where the'",
    advice: 'use if or when',
    found: /\b[Ww]here (the|an?|it|that|this|no|one|they|most|what|few|nothing|there)\b/g,
    most: { docs: 1, comments: 11, titles: 0 },
  },
  {
    name: "'is 404'",
    advice: 'use returns 404',
    found: /\b(gets?|is|are) [1-5][0-9]{2}\b/g,
    most: { docs: 12, comments: 4, titles: 0 },
  },
  {
    name: "'further'",
    advice: 'use more or additional',
    found: /\b[Ff]urther\b/g,
    most: { docs: 0, comments: 0, titles: 0 },
  },
];

const skip = !installed('git') && 'git is not installed';
const list = () => execFileSync('git', ['ls-files', '-z'], { cwd: rootPath, encoding: 'utf8' });
const files = (skip === false ? list() : '').split('\0');

async function readTexts(place: Place): Promise<string> {
  const isPage = (path: string) => path.startsWith('docs/') && extname(path) === '.md';
  const isCode = (path: string) => ['.ts', '.tsx', '.js'].includes(extname(path));
  const isTest = (path: string) => path.startsWith('test/') && isCode(path);
  const chosen = files.filter({ docs: isPage, comments: isCode, titles: isTest }[place]);
  const texts = await Promise.all(chosen.map((path) => readFile(`${rootPath}/${path}`, 'utf8')));
  return texts.map(read[place]).join('\n').replaceAll(/\s+/g, ' ');
}

/** The text in a place, without marks that interrupt sentences. */
const read: Readonly<Record<Place, (text: string) => string>> = {
  docs: readProse,
  comments: (text) =>
    [...text.matchAll(/^\s*(?:\/\/|\/?\*+)(.*)$/gm)].map(([, line = '']) => line).join('\n'),
  titles: (text) => [...text.matchAll(/\btest\((.*)$/gm)].map(([, line = '']) => line).join('\n'),
};

for (const place of ['docs', 'comments', 'titles'] as const) {
  t.test(`keeps the ${place} in plain English`, { skip }, async (t) => {
    const text = await readTexts(place);
    for (const { name, advice, found, most } of patterns) {
      const count = text.match(found)?.length ?? 0;
      t.ok(count <= most[place], `${name}: ${count}, at most ${most[place]}; ${advice}`);
    }
  });
}

t.test('names functions by their action and elements by their noun', { skip }, async (t) => {
  const chosen = files.filter((path) => /\.(ts|tsx|js)$/.test(path));
  const texts = await Promise.all(chosen.map((path) => readFile(`${rootPath}/${path}`, 'utf8')));
  const declared = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:const|let|function) (\w+)|\((\w+)\) =>/g)].map(
      ([, name, parameter]) => name ?? parameter ?? '',
    ),
  );
  const ofs = declared.filter((name) => /^(?!exactlyOneOf|isListOf|oneOf)\w+Of$/.test(name));
  t.same(ofs, [], "use get, read, count or find instead of 'Of'");
  t.same(
    declared.filter((name) => name === 'one'),
    [],
    "use the element's noun instead of 'one'",
  );
});
