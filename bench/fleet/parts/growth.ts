import { availableParallelism } from 'node:os';
import type { FleetPart } from '../results.ts';

const counts = [1, 2, 3, 4, 6, 8];

/** A model, because machines that share one computer do not show the throughput of several computers. */
export const growth: FleetPart = {
  title: 'Throughput by number of machines',
  method:
    'A model, not a measurement: machines and balancer share the processors of this computer. It takes the processor time that the first part has measured for each render, with the hits between them, and for each request at the balancer; machines like this computer, with nothing else to do; an origin, a store and a bucket without limits; and requests that the balancer spreads as in the first part. With a bounded load, no machine gets more than 1.5 times the mean.',
  measures: {
    fourth: { what: 'renders per second of four machines, by those of three', unit: '×' },
  },
  async run({ cost, busiestShare, finding, table, chart }) {
    if (cost === null) throw new Error('the first part has not measured the cost');
    const cores = availableParallelism();
    const ofMachine = (1_000 * cores) / cost.render;
    const ofBalancer = (1_000 * cores) / cost.balancer;
    // The busiest machine is the limit of all.
    const renders = (count: number) =>
      Math.min((count * ofMachine) / (count === 1 ? 1 : busiestShare), ofBalancer);
    const detail = `${cost.render.toFixed(1)} ms for each render on a machine, ${cost.balancer.toFixed(2)} ms for each request at the balancer; the busiest machine gets ${busiestShare.toFixed(2)} times the mean`;
    finding('fourth', 'model', [renders(4) / renders(3)], detail);
    table({
      title: 'Renders per second, by the model',
      rows: [
        ['machines', 'renders/s', `limit of the balancer, ${cores} cores`],
        ...counts.map((count) => [
          String(count),
          renders(count).toFixed(0),
          `${ofBalancer.toFixed(0)} requests/s`,
        ]),
      ],
    });
    chart({
      name: 'growth',
      title: 'Renders per second by the model, with the measured costs',
      panels: [
        {
          title: 'renders/s',
          series: [
            { name: 'model', points: counts.map((count) => [count, renders(count)] as const) },
          ],
        },
      ],
      xTitle: 'machines',
    });
  },
};
