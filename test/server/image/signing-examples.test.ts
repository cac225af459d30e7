import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { checkSignature } from '../../../server/image/access.ts';
import { readAddress } from '../../../server/image/address.ts';
import { project } from '../../project.ts';
import { root } from '../../root.ts';

const page = await readFile(new URL('docs/signing.md', root), 'utf8');
const target =
  '/img/https%3A%2F%2Fexample.com%2Fcaf%C3%A9.jpg%3Fv%3D2?project=prj_0123456789abcdef&w=800';
const secret = 'a-secret_of-43-characters';
const now = Date.UTC(2026, 10, 20);
const exp = now / 1_000 + 600;
const call = JSON.stringify([target, secret, exp]).slice(1, -1);

/**
 * How to run a program that prints the signed URL: its command, and its code as an argument or a
 * file.
 */
interface Language {
  readonly command: string;
  readonly version: string;
  /** Another required command. */
  readonly needs?: string;
  readonly program: (code: string) => string;
  readonly args: readonly string[];
  /** File to write the program to; if absent, the program is the last argument. */
  readonly file?: string;
}

/** Each language with an example in docs/signing.md. */
const languages: Readonly<Record<string, Language>> = {
  js: {
    command: process.execPath,
    version: '--version',
    program: (code) => `${code}\nprocess.stdout.write(sign(${call}))`,
    args: ['--input-type=module', '-e'],
  },
  python: {
    command: 'python3',
    version: '--version',
    program: (code) => `${code}\nprint(sign(${call}), end="")`,
    args: ['-c'],
  },
  php: {
    command: 'php',
    version: '--version',
    program: (code) => `${code}\necho sign(${call});`,
    args: ['-r'],
  },
  ruby: {
    command: 'ruby',
    version: '--version',
    program: (code) => `${code}\nprint sign(${call})`,
    args: ['-e'],
  },
  go: {
    command: 'go',
    version: 'version',
    program: (code) =>
      `package main\n${code.replace('(\n', '(\n"os"\n')}\nfunc main() { os.Stdout.WriteString(sign(${call})) }`,
    args: ['run'],
    file: 'sign.go',
  },
  java: {
    command: 'java',
    needs: 'javac',
    version: '-version',
    // Java runs the first class of a file.
    program: (code) =>
      code.replace(
        'class ImageUrls {',
        `class Program {
           public static void main(String[] args) throws GeneralSecurityException {
             System.out.print(ImageUrls.sign(${call}L));
           }
         }
         class ImageUrls {`,
      ),
    args: [],
    file: 'Program.java',
  },
};

for (const [language, all] of Object.entries(languages)) {
  const { command, version, needs = command, program, args, file } = all;
  const [, code = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page) ?? [];
  const missing = spawnSync(needs, [version]).status !== 0;
  const skip = missing ? `${needs} is not installed` : false;
  t.test(
    `signs as the service checks, in the ${language} example of docs/signing.md`,
    { skip },
    async (t) => {
      t.match(code, /sign\(/);
      const folder = t.testdir(file === undefined ? {} : { [file]: program(code) });
      const last = file === undefined ? program(code) : join(folder, file);
      const { stdout, stderr } = spawnSync(command, [...args, last], { encoding: 'utf8' });
      t.equal(stderr, '');
      const [path = '', query = ''] = stdout.split('?');
      const signed = project({ requireSignedUrls: true, signingSecret: secret });
      const check = (text: string) =>
        checkSignature(signed, readAddress(path, text), path, text, now).expires;
      t.equal(check(query), exp * 1_000);
      t.throws(() => check(query.replace('w=800', 'w=801')), { code: 'signature_invalid' });
    },
  );
}
