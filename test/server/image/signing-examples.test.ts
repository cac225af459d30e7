import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
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

/** The command of each language that runs the code of docs/signing.md and prints the signed URL. */
const languages = {
  js: (code: string) => [
    process.execPath,
    ['--input-type=module', '-e', `${code}\nprocess.stdout.write(sign(${call}))`],
  ],
  python: (code: string) => ['python3', ['-c', `${code}\nprint(sign(${call}), end="")`]],
  php: (code: string) => ['php', ['-r', `${code}\necho sign(${call});`]],
} as const satisfies Record<string, (code: string) => readonly [string, readonly string[]]>;

for (const [language, commandOf] of Object.entries(languages)) {
  const [, code = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page) ?? [];
  const [command, args] = commandOf(code);
  const missing = spawnSync(command, ['--version']).status !== 0;
  const skip = missing ? `${command} is not installed` : false;
  t.test(
    `the example of docs/signing.md in ${language} signs as the service checks`,
    { skip },
    async (t) => {
      t.match(code, /sign\(/);
      const { stdout, stderr } = spawnSync(command, [...args], { encoding: 'utf8' });
      t.equal(stderr, '');
      const [path = '', query = ''] = stdout.split('?');
      const signed = project({ requireSignedUrls: true, signingSecret: secret });
      const check = (text: string) =>
        checkSignature(signed, readAddress(path, text), path, text, now);
      t.equal(check(query), exp * 1_000);
      t.throws(() => check(query.replace('w=800', 'w=801')), { code: 'signature_invalid' });
    },
  );
}
