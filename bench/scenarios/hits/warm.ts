import { load, ofClass } from '../../load/load.ts';
import type { ClosedClass } from '../../load/plan.ts';
import type { Service } from '../../servers/service.ts';

/** What is asked for in one case. */
export type Requests = Pick<ClosedClass, 'count' | 'zipf' | 'headers'>;

/** Every URL twice with every header, so that each is in the memory of the processes that serve it. */
export async function warm(service: Service, url: string, requests: Requests): Promise<void> {
  const { count = 1, headers } = requests;
  const result = await load({
    seconds: 120,
    classes: [
      {
        name: 'warm',
        url,
        first: 0,
        count,
        clients: 16,
        ...(headers === undefined ? {} : { headers }),
        requests: 2 * Math.max(16, count),
      },
    ],
  });
  const { counts, answers } = ofClass(result, 'warm');
  if (counts.failed + counts.refused > 0) {
    throw new Error(`${service.name}: ${JSON.stringify(answers)}`);
  }
}
