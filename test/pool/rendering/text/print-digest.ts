import { createHash } from 'node:crypto';
import { prepareFonts } from '../../../../pool/rendering/text/font-folder.ts';
import { renderText } from '../../../../pool/rendering/text/render-text.ts';
import { plainStyle } from './drawn-text.ts';

/** Prints a digest of a drawn text. Prepares the fonts in the folder named by the argument. */
const [, , own = ''] = process.argv;
await prepareFonts({ own, added: null });
const words = 'Hamburgefonts Жук שלום 你好 مرحبا 😀';
const { pixels } = await renderText({ ...plainStyle, weight: 600 }, words, {
  width: 300,
  height: 300,
});
process.stdout.write(createHash('sha256').update(pixels).digest('hex'));
