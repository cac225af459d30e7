import { load } from '../../load/load.ts';
import { peak } from '../../load/peak.ts';
import { type Service, startService } from '../../servers/service.ts';
import { alternate } from '../rounds.ts';
import type { Bench } from '../scenario.ts';
import { quality } from '../sources.ts';

const hotUrls = 1_000;
const quickHotUrls = 100;

/** Hits per second, one for each round. */
export interface ProjectRates {
  readonly of: string;
  readonly one: readonly number[];
  readonly many: readonly number[];
}

/** The same number of URLs, of one project and of many. */
export async function compareProjects(
  bench: Omit<Bench, 'finding'>,
  count: number,
  connections: number,
): Promise<ProjectRates> {
  const urls = bench.quick ? quickHotUrls : hotUrls;
  const service = await bench.open(startService({ SERVICE_API_RATE_LIMIT: '1000000' }));
  const { small } = bench.sources;
  const template = service.imageUrl({
    source: small.url,
    width: small.width,
    format: 'jpeg',
    quality,
  });
  const { project } = service.deployment;
  const ids = [project, ...(await createProjects(service, count - 1))];
  const words = Array.from({ length: urls }, (_, number) => ({
    one: `${number}?project=${project}`,
    many: `${number}?project=${ids[number % ids.length]}`,
  }));
  const url = template.replace(`{n}?project=${project}`, '{n}');
  const classOf = (which: 'one' | 'many') => ({
    name: 'hits',
    url,
    first: 0,
    count: urls,
    words: words.map((word) => word[which]),
  });
  for (const which of ['one', 'many'] as const) {
    const warm = { ...classOf(which), clients: 8, requests: urls };
    await load({ seconds: 120, classes: [warm] });
  }
  const measure = (which: 'one' | 'many') => async () =>
    (await peak({ seconds: bench.seconds, connections, cpus: null, class: classOf(which) }))
      .perSecond;
  const rates = await alternate(bench.quick ? 1 : bench.rounds, {
    one: measure('one'),
    many: measure('many'),
  });
  const { one = [], many = [] } = rates;
  return { of: `${count} projects, ${urls} URLs`, one, many };
}

async function createProjects({ url, deployment }: Service, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const response = await fetch(`${url}/api/sdk/v1/projects`, {
      method: 'POST',
      headers: { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Bench ${number}`, origin: 'http://127.0.0.1/' }),
    });
    if (response.status !== 201) throw new Error(`no project: ${await response.text()}`);
    ids.push(((await response.json()) as { project: { id: string } }).project.id);
  }
  return ids;
}
