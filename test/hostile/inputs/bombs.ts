import sharp from 'sharp';
import type { Bomb } from './bomb.ts';
import { containerBombs } from './container-bombs.ts';
import { damagedMetadata, metadataBombs } from './metadata-bombs.ts';
import { pictureBombs } from './picture-bombs.ts';
import { type PictureKind, plainPictures } from './pictures.ts';

/**
 * @param scale 1 for files that a slow machine processes in seconds; 10 for ten times as many
 * frames, scans and bytes, and for files of tens of megabytes
 */
export async function bombs(scale: number): Promise<readonly Bomb[]> {
  const originals = await plainPictures();
  const original = (kind: PictureKind): Buffer => {
    const bytes = originals.get(kind);
    if (bytes === undefined) throw new Error(`no ${kind}`);
    return bytes;
  };
  const { icc } = await sharp(original('png')).metadata();
  if (icc === undefined) throw new Error('no profile');
  const small = [...pictureBombs(original, scale), ...damagedMetadata(original)];
  if (scale === 1) return small;
  return [...small, ...containerBombs(original), ...metadataBombs(original, icc)];
}
