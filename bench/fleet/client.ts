import { Generator } from '../load/generator.ts';
import { target } from '../load/requests.ts';
import type { Finished } from '../load/results.ts';

/** Requests variants, by their numbers, over persistent connections. */
export class Client {
  readonly #generator = new Generator(30);
  readonly #toUrl: (variant: number) => string;

  constructor(toUrl: (variant: number) => string) {
    this.#toUrl = toUrl;
  }

  /** Requests each variant once, by several concurrent clients, and shows the progress. */
  async each(
    variants: readonly number[],
    progress: (text: string) => void,
  ): Promise<readonly Finished[]> {
    const left = variants.values();
    let count = 0;
    const { finished } = await this.#generator.send({
      next: () => this.#planned(left.next().value),
      pace: { clients: 12 },
      continues: () => true,
      onFinished: () => {
        count += 1;
        const step = Math.ceil(variants.length / 10);
        if (count % step === 0) progress(`${count} of ${variants.length} requests`);
      },
    });
    return finished;
  }

  /** Requests variants at a fixed rate, without waiting for earlier responses, until the signal aborts. */
  async atRate(
    rate: number,
    next: () => number,
    signal: AbortSignal,
  ): Promise<readonly Finished[]> {
    const { finished } = await this.#generator.send({
      next: () => this.#planned(next()),
      pace: { rate, firstDueAt: performance.now() },
      continues: () => !signal.aborted,
    });
    return finished;
  }

  #planned(variant: number | undefined) {
    if (variant === undefined) return null;
    return { ...target(this.#toUrl(variant), variant), headers: {} };
  }

  close(): Promise<void> {
    return this.#generator.close();
  }
}

export const isFailed = ({ status }: Finished): boolean => status !== 200;

/** The number of requests, and the five first kinds of failures with their numbers. */
export function failuresInWords(responses: readonly Finished[]): string {
  const counts = new Map<string, number>();
  for (const { status, failure, machine } of responses.filter(isFailed)) {
    const name = [status, failure, machine].filter(Boolean).join(' ');
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const failures = [...counts].slice(0, 5).map(([name, count]) => `${count} x ${name}`);
  return [`${responses.length} requests`, ...failures].join('; ');
}
