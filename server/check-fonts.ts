import { FontError } from '../pool/rendering/text/font-file.ts';
import { fontFamilies } from '../pool/rendering/text/fonts.ts';
import { codeOf } from '../pool/source/fetch-errors.ts';

/** The reason why the operator's fonts cannot be used; null if all can. */
export async function fontsFailure(folder: string | null): Promise<string | null> {
  if (folder === null) return null;
  try {
    await fontFamilies(folder);
    return null;
  } catch (error) {
    if (error instanceof FontError) return `SERVICE_FONTS: ${error.message}`;
    return `SERVICE_FONTS: the folder ${folder} cannot be read (${codeOf(error) ?? 'unknown'}).`;
  }
}
