import t from 'tap';
import {
  hashApiKey,
  newApiKey,
  newKeyId,
  newOrganisationId,
  newProjectId,
  newSigningSecret,
} from '../../store/identifiers.ts';
import { projectColours } from '../../store/projects.ts';

t.test('creates unique identifiers and secrets in their form', async (t) => {
  for (const [make, form] of [
    [newProjectId, /^prj_[0-9a-z]{16}$/],
    [newOrganisationId, /^org_[0-9a-z]{16}$/],
    [newKeyId, /^key_[0-9a-z]{16}$/],
    [newApiKey, /^sk_[0-9A-Za-z_-]{43}$/],
    [newSigningSecret, /^[0-9A-Za-z_-]{43}$/],
  ] as const) {
    const texts = Array.from({ length: 2_000 }, make);
    t.equal(new Set(texts).size, texts.length);
    t.ok(texts.every((text) => form.test(text)));
  }
});

t.test('uses all characters equally', async (t) => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 12_000; i++) {
    for (const character of newProjectId().slice(4)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  t.equal(counts.size, 36);
  const expected = (12_000 * 16) / 36;
  for (const [character, count] of counts) {
    // Six standard deviations: a byte modulo 36 would exceed them.
    t.ok(Math.abs(count - expected) < 6 * Math.sqrt(expected), `${character}: ${count} times`);
  }
});

t.test('stores a key as its SHA-256', async (t) => {
  // The one-block example of FIPS 180-4.
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  t.equal(hashApiKey('abc'), digest);
});

t.test("derives a project's two colours from its id", async (t) => {
  const first = new Set<string>();
  for (const id of Array.from({ length: 300 }, newProjectId)) {
    const { color1, color2 } = projectColours(id);
    t.match(color1 + color2, /^(#[0-9a-f]{6}){2}$/);
    t.not(color1, color2);
    t.same(projectColours(id), { color1, color2 });
    first.add(color1);
  }
  t.ok(first.size > 100, `${first.size} colours`);
});
