import t, { type Test } from 'tap';
import { uwsFailure } from '../../server/http/engine-choice.ts';

/** The HTTP engines that there are on this machine; what both promise is tested with both. */
export const engines: readonly ('uws' | 'node')[] =
  uwsFailure() === null ? ['uws', 'node'] : ['node'];

export type EngineName = (typeof engines)[number];

type Body = (
  t: Test,
  engine: { readonly name: EngineName; readonly environment: Readonly<Record<string, string>> },
) => Promise<unknown>;

/** A test that is run once with each engine. */
export function eachEngine(name: string, body: Body): void {
  for (const engine of engines) {
    const environment = { SERVICE_HTTP_ENGINE: engine };
    t.test(`${name} (${engine})`, (t) => body(t, { name: engine, environment }));
  }
}
