import t from 'tap';
import {
  hashApiKey,
  newApiKey,
  newKeyId,
  newOrganisationId,
  newProjectId,
  newSigningSecret,
} from '../../store/identifiers.ts';
import { projectColours } from '../../store/project-colours.ts';

const makers: readonly (readonly [() => string, RegExp])[] = [
  [newProjectId, /^prj_[0-9a-z]{16}$/],
  [newOrganisationId, /^org_[0-9a-z]{16}$/],
  [newKeyId, /^key_[0-9a-z]{16}$/],
  [newApiKey, /^sk_[0-9A-Za-z_-]{43}$/],
  [newSigningSecret, /^[0-9A-Za-z_-]{43}$/],
];

t.test('identifiers and secrets have their form and are unique', async (t) => {
  for (const [make, form] of makers) {
    const made = Array.from({ length: 2_000 }, make);
    t.equal(new Set(made).size, made.length);
    t.ok(made.every((one) => form.test(one)));
  }
});

t.test('all characters are equally likely', async (t) => {
  const seen = new Map<string, number>();
  for (let i = 0; i < 12_000; i++) {
    for (const one of newProjectId().slice(4)) seen.set(one, (seen.get(one) ?? 0) + 1);
  }
  t.equal(seen.size, 36);
  const expected = (12_000 * 16) / 36;
  for (const [one, times] of seen) {
    // Six standard deviations: a byte modulo 36 would exceed them.
    t.ok(Math.abs(times - expected) < 6 * Math.sqrt(expected), `${one}: ${times} times`);
  }
});

t.test('a key is stored as its SHA-256', async (t) => {
  t.equal(
    hashApiKey('abc'),
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'FIPS 180-4, the example of one block',
  );
});

t.test('the two colours of a project depend on its id', async (t) => {
  const ids = Array.from({ length: 300 }, newProjectId);
  for (const id of ids) {
    const { color1, color2 } = projectColours(id);
    t.match(color1, /^#[0-9A-Fa-f]{6}$/);
    t.match(color2, /^#[0-9A-Fa-f]{6}$/);
    t.not(color1, color2);
    t.same(projectColours(id), { color1, color2 });
  }
  const first = new Set(ids.map((id) => projectColours(id).color1));
  t.ok(first.size > 100, `${first.size} colours`);
});
