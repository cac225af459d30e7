import sharp from 'sharp';
import { allowGainMaps } from '../../pool/execution/decoders.ts';
import { avifThreads } from '../../pool/execution/encoder-threads.ts';
import { runTask } from '../../pool/execution/task.ts';
import { prepareFonts } from '../../pool/rendering/text/font-folder.ts';
import { concurrently } from '../concurrently.ts';
import { shared } from '../pool/rendering/pictures.ts';
import { type Render, renders } from './inputs/renders.ts';

/**
 * Renders requests like a transform process, but several at a time, and prints each outcome as
 * JSON: the entity tag, which is a digest, or the error. Arguments: an empty folder for fonts, the
 * seed, the number of the first generated request, and their number.
 */

const [fontFolder = '', ...numbers] = process.argv.slice(2);
const [seed = 0, from = 0, count = 0] = numbers.map(Number);
const limits = {
  sourceMaxPixels: 100_000_000,
  softTimeoutSeconds: 600,
  svgTimeoutMs: 60_000,
  processMemoryBytes: 2 ** 31,
};

sharp.cache(false);
sharp.concurrency(avifThreads);
await prepareFonts({ own: fontFolder, added: null });
const requests = await renders(seed, from, count);
const outcomes = new Map<Render, string>();

async function run(request: Render): Promise<void> {
  const { source, layers, variant } = request;
  const execution = { isolated: true, cost: null };
  const task = { source: shared(source), layers: layers.map(shared), variant, limits, execution };
  const result = await runTask(task);
  if ('execution' in result) throw new Error('not rendered');
  outcomes.set(request, result.ok ? result.etag : result.error.message);
}

// Allowing the gain map decoder affects the whole process.
for (const isAllowed of [false, true]) {
  allowGainMaps(isAllowed);
  const group = requests.filter(({ variant }) => variant.gainMap === isAllowed);
  await concurrently(4, group, run);
}
process.stdout.write(JSON.stringify(requests.map((request) => outcomes.get(request))));
