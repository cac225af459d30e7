import { text } from 'node:stream/consumers';
import { runPlan } from './generator.ts';
import type { Plan } from './plan.ts';

/** The generator as a process of its own, so that nothing but its plan runs on its event loop. */
const plan: Plan = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await runPlan(plan)));
