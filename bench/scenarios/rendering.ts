import { loadOne } from '../load/load.ts';
import type { Results } from '../report.ts';
import { alternate, known, median, ratios, spread } from '../rounds.ts';
import type { EncodedFormat } from '../servers/encoder-settings.ts';
import { hasMinimal, minimalName } from '../servers/minimal.ts';
import { processorMs } from '../servers/processes.ts';
import type { ImageServer } from '../servers/server.ts';
import { type Bench, unusedNumber } from './bench.ts';
import { type SourcePicture, toImageUrl } from './sources.ts';

/** With fewer, a rate depends on where its window ends. */
const minImages = 10;

/** A server's figures in a round. */
export interface Rendering {
  readonly perSecond: number;
  readonly bytes: number;
  /** Per image; NaN if the server's process is unknown. */
  readonly processorMs: number;
}

/** A source's images in a format. */
export interface RenderedCase {
  readonly name: string;
  readonly source: SourcePicture;
  readonly format: EncodedFormat;
}

/** Returns each round's figures, by server name. */
export function measureCase(
  bench: Pick<Bench, 'seconds' | 'cores' | 'rounds'>,
  renderedCase: RenderedCase,
  servers: readonly ImageServer[],
): Promise<Record<string, Rendering[]>> {
  const contenders = servers.map(
    (server) => [server.name, () => measureMisses(bench, server, renderedCase)] as const,
  );
  return alternate(bench.rounds, Object.fromEntries(contenders));
}

/** A closed loop of misses. */
async function measureMisses(
  bench: Pick<Bench, 'seconds' | 'cores'>,
  server: ImageServer,
  { source, format }: RenderedCase,
): Promise<Rendering> {
  const warmupS = Math.min(1, bench.seconds / 4);
  const url = toImageUrl(server, source, format);
  const clients = 4 * bench.cores;
  const planned = { url, first: unusedNumber(), clients, atLeast: minImages };
  const usedMs = () => (server.pid === null ? Number.NaN : processorMs(server.pid));
  const before = await usedMs();
  const plan = { seconds: bench.seconds + warmupS, warmupS };
  const { goodput, all, meanBytes } = await loadOne(planned, plan, ['miss', 'refused']);
  const perSecond = goodput === 0 ? Number.NaN : goodput;
  return { perSecond, bytes: meanBytes, processorMs: ((await usedMs()) - before) / all };
}

/** Prefix of a case's measures: photographs have separate goals. */
export type Kind = '' | 'photograph, ';
export type Comparison = 'of minimal' | 'of the fastest other';

/**
 * Reports a case.
 * @param found each round's figures, by server name
 */
export function reportCase<K extends Kind>(
  results: Results<`${K}${Comparison | 'processor time, of minimal'}`>,
  kind: K,
  caseName: string,
  found: Readonly<Record<string, readonly Rendering[]>>,
): void {
  const getValues = (name: string, key: keyof Rendering) =>
    (found[name] ?? []).map((rendering) => rendering[key]);
  const rates = (name: string) => getValues(name, 'perSecond');
  const times = (name: string) => getValues(name, 'processorMs');
  const compareRates = (comparison: Comparison, name: string) => {
    const theirs = { name, values: rates(name) };
    results.ratio(`${kind}${comparison}`, caseName, rates('service'), theirs, '/s');
  };
  if (hasMinimal) {
    compareRates('of minimal', minimalName);
    const theirs = { name: minimalName, values: times(minimalName) };
    const measure = `${kind}processor time, of minimal` as const;
    results.ratio(measure, caseName, times('service'), theirs, ' ms');
  }
  const others = Object.keys(found).filter((name) => !['service', minimalName].includes(name));
  const [fastest] = others
    .map((name) => ({ name, rate: median(known(rates(name))) }))
    .filter(({ rate }) => !Number.isNaN(rate))
    .sort((a, b) => b.rate - a.rate);
  if (fastest !== undefined) compareRates('of the fastest other', fastest.name);
  const ofMinimal = `of ${minimalName}`;
  const rows = Object.keys(found).map((name) => [
    name,
    spread(rates(name)),
    spread(ratios(rates(name), rates(minimalName))),
    spread(times(name)),
    spread(ratios(times(name), times(minimalName))),
    String(Math.round(median(getValues(name, 'bytes')))),
  ]);
  const heads = ['', 'images/s', ofMinimal, 'processor ms per image', ofMinimal, 'bytes'];
  results.table({ title: caseName, rows: [heads, ...rows] });
}
