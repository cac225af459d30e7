import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import t from 'tap';
import { builtTests, durationMark } from './files.ts';

/**
 * A test process: runs the files of TEST_FILES in turn. It loads each file in a subtest, so that
 * the file's subtests start after the previous file's, and tap does not end in between.
 */
const files = process.env['TEST_FILES']?.split('\n') ?? [];
const startTimes: number[] = [];
for (const file of files) {
  await t.test(file, async () => {
    startTimes.push(performance.now());
    // An earlier file's transform threads block decoders for the whole process
    // (pool/execution/decoders.ts).
    sharp.unblock({ operation: ['VipsForeignLoadSvg', 'VipsForeignLoadJxl'] });
    await import(pathToFileURL(join(builtTests, file)).href);
  });
}
process.once('exit', () => {
  for (const [at, from] of startTimes.entries()) {
    const ms = Math.round((startTimes[at + 1] ?? performance.now()) - from);
    process.stdout.write(`${durationMark} ${ms} ${files[at]}\n`);
  }
});
