import t, { type Test } from 'tap';
import { loadUws } from '../../server/http/uws-library.ts';

const uws = loadUws();

/** The HTTP engines that there are on this machine; what both promise is tested with both. */
export const engines: readonly ('uws' | 'node')[] =
  typeof uws === 'string' ? ['node'] : ['uws', 'node'];

export type EngineName = (typeof engines)[number];

/** uWebSockets.js 20.30, which leaves many valid requests without a response; newer releases do not. */
const isOldUws = typeof uws !== 'string' && uws.release.includes(' 20.30.');

type Body = (
  t: Test,
  engine: {
    readonly name: EngineName;
    readonly isOldUws: boolean;
    readonly environment: Readonly<Record<string, string>>;
  },
) => Promise<unknown>;

/** A test that is run once with each engine. */
export function eachEngine(name: string, body: Body): void {
  for (const engine of engines) {
    const environment = { SERVICE_HTTP_ENGINE: engine };
    const old = engine === 'uws' && isOldUws;
    t.test(`${name} (${engine})`, (t) => body(t, { name: engine, isOldUws: old, environment }));
  }
}
